import * as z from 'zod'
// Not z.core: that would bring all of zod into the bundle.
import { $constructor } from 'zod/v4/core'
import { optionalFlag, optionalText, text } from '../schema/schema.ts'

/** Limit of one scan; the rest is not read. No object may take so much work that everything waits for it. */
const maxFindings = 2_000

/** The scans in a Version's status. */
export const scanFields = ['sourceScan', 'binaryScan'] as const

const SecurityFinding = z.object({
  vulnerabilityID: z.string().default('').describe('CVE, GHSA or rule of the scanner.'),
  pkgName: z.string().default('').describe('Affected package.'),
  installedVersion: z.string().default('').describe('Installed version.'),
  fixedVersion: optionalText('Lowest version that is not affected, if known.'),
  severity: z.string().default('UNKNOWN').describe('CRITICAL, HIGH, MEDIUM, LOW or UNKNOWN.'),
  title: z.string().default('').describe('Short description.'),
})
export type SecurityFinding = z.infer<typeof SecurityFinding>

/**
 * A finding that is already checked. Many objects share it. A table that keeps it stores its index here, because a lookup
 * by its text would cost more than all other work on it.
 */
export class CheckedFinding implements SecurityFinding {
  readonly vulnerabilityID: string
  readonly pkgName: string
  readonly installedVersion: string
  readonly fixedVersion?: string | undefined
  readonly severity: string
  readonly title: string
  #place = -1

  constructor(finding: SecurityFinding) {
    this.vulnerabilityID = finding.vulnerabilityID
    this.pkgName = finding.pkgName
    this.installedVersion = finding.installedVersion
    if (finding.fixedVersion !== undefined) this.fixedVersion = finding.fixedVersion
    this.severity = finding.severity
    this.title = finding.title
  }

  static is(value: unknown): value is CheckedFinding {
    return typeof value === 'object' && value !== null && #place in value
  }

  /** Its last index in a table, which may be another table; -1: none. */
  static placeOf(finding: SecurityFinding): number {
    return #place in finding ? finding.#place : -1
  }

  static setPlace(finding: SecurityFinding, place: number): void {
    if (#place in finding) finding.#place = place
  }
}

/** Undefined if it is invalid. */
export function checkFinding(raw: object): CheckedFinding | undefined {
  const { data } = SecurityFinding.safeParse(raw)
  if (data === undefined) return undefined
  const finding = new CheckedFinding(data)
  Object.freeze(finding)
  return finding
}

type Findings = z.ZodArray<typeof SecurityFinding>

// A type assertion needs a variable with an explicit type.
const arrays: typeof z.ZodArray = z.ZodArray

/** An array that is read up to the limit, and whose checked items are not checked again. */
const Findings = $constructor<Findings>('Findings', (schema, def) => {
  arrays.init(schema, def)
  const { _zod: own } = schema
  const check = own.parse.bind(own)
  own.parse = (payload, context) => {
    const { value } = payload
    if (!Array.isArray(value)) return check(payload, context)
    const all: unknown[] = value
    payload.value = all.length > maxFindings ? all.slice(0, maxFindings) : all
    return all.every((one) => CheckedFinding.is(one)) ? payload : check(payload, context)
  }
})

const findings = new Findings({ type: 'array', element: SecurityFinding })

export const Scan = z.object({
  scannedAt: optionalText('Time when the scan ended, RFC 3339.'),
  // Lazy, because the compiler of zod would take it for a plain array.
  findings: z
    .lazy(() => findings)
    .default([])
    .meta({ description: 'Findings of the scan, at most 2,000.', maxItems: maxFindings }),
})
export type Scan = z.infer<typeof Scan>

const count = (severity: string) => z.int().min(0).describe(`Findings of severity ${severity}.`)

/** The subject of a scan, which is repeated only for another archive, scanner or database. */
export const ScanSummary = z.object({
  sha256: text('SHA-256 of the archive that was scanned, in hexadecimal.'),
  scanner: text('Scanner and its version, such as trivy 0.70.0.'),
  database: optionalText('Database that the scanner used. Absent if it has none, or does not say.'),
  counts: z
    .object({
      critical: count('CRITICAL'),
      high: count('HIGH'),
      medium: count('MEDIUM'),
      low: count('LOW'),
      unknown: count('UNKNOWN'),
    })
    .describe('All findings by severity, including those that are left out of the list.'),
  criticalSince: optionalText(
    'Time when a scan last found a new finding of severity CRITICAL, RFC 3339.',
  ),
  truncated: optionalFlag(
    'Whether the list leaves out findings, the mildest first, because it was too long.',
  ),
})
export type ScanSummary = z.infer<typeof ScanSummary>
