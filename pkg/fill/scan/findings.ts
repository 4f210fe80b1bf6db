import * as z from 'zod'
import { rankOf, type Severity, severities } from '../../api/findings/findings.ts'
import type { ScanSummary, SecurityFinding } from '../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../base/errors/errors.ts'

/** An API server refuses objects of about 1.5 MiB, and a Version has two scans. */
const maxFindings = 2_000
const maxBytes = 512 * 1024
const maxIdBytes = 128

/** The id of a finding: something of it must be left when it is stored. */
export const findingId = z
  .string()
  .refine((id) => printable(id, maxIdBytes) !== '', { error: 'is empty or cannot be printed' })

/** The findings of a scan as a status stores them, and the counts of all of them. */
export interface ListedFindings {
  readonly findings: readonly SecurityFinding[]
  readonly counts: ScanSummary['counts']
  readonly truncated: boolean
}

/**
 * Makes texts of the scanner printable and cuts them. Sorts findings by severity, id and package, each once: in the worst severity
 * of those with the same id, package and version. If there are too many, the mildest are left out.
 */
export function listed(raw: readonly SecurityFinding[]): ListedFindings {
  const sorted = raw.map(identified).toSorted(byImportance)
  const seen = new Set<string>()
  const distinct = sorted.filter(({ vulnerabilityID, pkgName, installedVersion }) => {
    const subject = JSON.stringify([vulnerabilityID, pkgName, installedVersion])
    return seen.size < seen.add(subject).size
  })
  const count = (severity: Severity) =>
    distinct.reduce((sum, finding) => sum + Number(finding.severity === severity), 0)
  const findings = fitting(distinct.slice(0, maxFindings).map(readable))
  return {
    findings,
    counts: {
      critical: count('CRITICAL'),
      high: count('HIGH'),
      medium: count('MEDIUM'),
      low: count('LOW'),
      unknown: count('UNKNOWN'),
    },
    truncated: findings.length < distinct.length,
  }
}

/** The first findings, as many as a status can store. */
function fitting(findings: readonly SecurityFinding[]): readonly SecurityFinding[] {
  let bytes = 0
  const tooMany = findings.findIndex((finding) => {
    bytes += Buffer.byteLength(JSON.stringify(finding)) + 1
    return bytes > maxBytes
  })
  return tooMany === -1 ? findings : findings.slice(0, tooMany)
}

/** A finding, and the text that distinguishes it from others in a status. */
const identified = (finding: SecurityFinding): SecurityFinding => ({
  ...finding,
  vulnerabilityID: printable(finding.vulnerabilityID, maxIdBytes),
  pkgName: printable(finding.pkgName, 256),
  installedVersion: printable(finding.installedVersion, 128),
  severity: severityOf(finding.severity),
})

function readable({ fixedVersion, title, ...finding }: SecurityFinding): SecurityFinding {
  const fixed = fixedVersion === undefined ? '' : printable(fixedVersion, 256)
  return { ...finding, ...(fixed !== '' && { fixedVersion: fixed }), title: printable(title, 256) }
}

/** Trivy's NEGLIGIBLE is a low one. */
const severityOf = (text: string): Severity =>
  text.toUpperCase() === 'NEGLIGIBLE' ? 'LOW' : (severities[rankOf(text)] ?? 'UNKNOWN')

function byImportance(a: SecurityFinding, b: SecurityFinding): number {
  return (
    rankOf(a.severity) - rankOf(b.severity) ||
    compare(a.vulnerabilityID, b.vulnerabilityID) ||
    compare(a.pkgName, b.pkgName) ||
    compare(a.installedVersion, b.installedVersion)
  )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Such as `2 critical, 1 low`. */
export function countsText(counts: ScanSummary['counts']): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0)
  return some.length === 0
    ? 'no findings'
    : some.map(([severity, count]) => `${count} ${severity}`).join(', ')
}
