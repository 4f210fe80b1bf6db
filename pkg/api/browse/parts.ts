import * as z from 'zod'
import { list, oneOf, optionalText, text } from '../schema/schema.ts'

/** The records of the answers, under their names in the OpenAPI document. */
export const components = z.registry<{ id: string }>()

/** @param id its name there */
export const component = <T extends z.ZodRawShape>(id: string, shape: T) =>
  z.strictObject(shape).register(components, { id })

export const name = z.string()
export const moment = text('RFC 3339.')
export const tally = z.int().min(0)
export const kind = z.enum(['module', 'provider'])
/** True, or absent. */
export const mark = (meaning: string) => z.literal(true).optional().describe(meaning)

export const ScanCounts = z
  .strictObject({ critical: tally, high: tally, medium: tally, low: tally, unknown: tally })
  .describe('Distinct findings by severity.')
  .register(components, { id: 'ScanCounts' })

export const SecurityFinding = component('SecurityFinding', {
  vulnerabilityID: text('CVE, GHSA or rule of the scanner.'),
  pkgName: text('Package that is affected.'),
  installedVersion: text('Version in use.'),
  fixedVersion: optionalText('Lowest version that is not affected.'),
  severity: text('CRITICAL, HIGH, MEDIUM, LOW or UNKNOWN.'),
  title: text('Short description.'),
})

export const sourceScanFindings = z.array(SecurityFinding)
export const binaryScanFindings = z
  .record(z.string(), z.array(SecurityFinding))
  .describe('By `os/arch`; providers only.')

export const page = {
  totalCount: tally.describe('Items on all pages.'),
  page: z.int().min(1),
  pageSize: z.int().min(1).max(100),
}

export const unservedReasons = [
  'Duplicate',
  'AddressTaken',
  'ParentMissing',
  'NotSemver',
  'NoPlatform',
  'NoFileName',
  'NoStorage',
  'ReleaseIncomplete',
  'NoDigest',
  'BreakingChange',
  'Quarantined',
] as const

export const why = {
  reason: oneOf(
    unservedReasons,
    'Why it is not served, or not under its address; docs/errors.md explains each.',
  ),
  message: text('What is so and what to do, as the end of a sentence.'),
  servedInstead: optionalText('Name of the object that is served, in the same namespace.'),
}
/** Present if there is a reason. */
export const whyNot = z.object(why).partial().shape

export const lifecycleState = z.enum(['Deprecated', 'Yanked', 'Quarantined'])

export const VersionLifecycle = component('VersionLifecycle', {
  state: lifecycleState.describe(
    'Deprecated: another one is better. Yanked: not for new users. Quarantined: not served.',
  ),
  message: optionalText('Why.'),
  replacedBy: optionalText('Version or address to use instead.'),
  link: optionalText('Page that explains it.'),
})

export const backend = z.enum(['s3', 'azure', 'gcs', 'filesystem'])
export const polling = z.int().min(0).describe('0: never.')
export const managed = list(z.string(), 'Names; `namespace/name` where in another namespace.')
