import * as z from 'zod'
import { list, optionalOneOf, text } from '../schema/schema.ts'
import { backend, component, kind, lifecycleState, moment, name, page, tally } from './parts.ts'

export const BrowseStats = component('BrowseStats', {
  totalModules: tally,
  totalProviders: tally,
  totalVersions: tally,
  totalStorageBytes: tally,
  totalDownloads: tally,
  syncHealth: z.strictObject({
    syncedVersions: tally,
    unsyncedVersions: tally,
    failedVersions: tally,
  }),
  securityPosture: z.strictObject({
    critical: tally,
    high: tally,
    medium: tally,
    low: tally,
    unknown: tally,
    totalAffectedResources: tally.describe('Modules and providers with a finding.'),
  }),
  storageDistribution: list(
    z.strictObject({ backend, count: tally }),
    'Modules and providers by storage backend.',
  ),
  mostDownloaded: z
    .array(
      z.strictObject({
        namespace: name,
        kind,
        name,
        version: z.string(),
        downloadCount: tally,
        lastDownloadedAt: moment.optional(),
      }),
    )
    .max(10)
    .describe('Most first.'),
})
export type BrowseStats = z.infer<typeof BrowseStats>

const counts = list(tally, 'One for each step, oldest first.')

export const DownloadHistory = component('DownloadHistory', {
  from: moment.describe('Start of the first step, RFC 3339.'),
  to: moment.describe('End of the last step, RFC 3339.'),
  stepSeconds: z.int().min(3600),
  total: tally.describe('Of all versions, those that are gone included.'),
  counts,
  versions: z
    .array(z.strictObject({ version: z.string(), total: tally, counts }))
    .max(20)
    .describe('Those that were downloaded most, most first.'),
})
export type DownloadHistory = z.infer<typeof DownloadHistory>

const date = text('YYYY-MM-DD, in UTC.')

/** Consumers of a module or provider in the last 90 days. */
export const ConsumerList = component('ConsumerList', {
  items: z.array(
    z.strictObject({
      consumer: text(
        'A program or group, with its kind: `serviceaccount:`, `client:`, `group:` or `person:`. `(others)`: those after the first 1,000.',
      ),
      versions: list(
        z.strictObject({
          version: z.string(),
          lastUsed: date,
          days: z.int().min(1).max(90).describe('On how many days it was downloaded.'),
          state: optionalOneOf(
            [...lifecycleState.options, 'Gone'],
            'Absent for an active version. Gone: the registry does not have it.',
          ),
          critical: z.int().min(1).optional().describe('Number of CRITICAL findings.'),
        }),
        'Newest first.',
      ),
      lastUsed: date,
      behind: tally.describe('How many releases are newer than the oldest version that it uses.'),
    }),
  ),
  ...page,
  consumers: tally.describe('Consumers without any filter.'),
  onLatest: tally.describe('Consumers that are not behind.'),
  troubled: tally.describe(
    'Consumers of a version that is deprecated, withdrawn or gone, or has CRITICAL findings.',
  ),
})
export type ConsumerList = z.infer<typeof ConsumerList>
