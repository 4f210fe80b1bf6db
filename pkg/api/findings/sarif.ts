import { type SarifNotice, sarifLog } from '../sarif/sarif.ts'
import { distinctFindings, type ScanReport } from './scan-report.ts'
import { rankOf, type ScanFinding } from './upgrades.ts'

/** Levels by rank. */
const levels = ['error', 'error', 'warning', 'note', 'none'] as const
/** Scores of CVSS by rank, with which GitHub sorts. */
const scores = ['9.5', '8.0', '5.5', '2.0', '0.0'] as const

/** The findings of a version in SARIF. */
export function sarifOf(report: ScanReport) {
  const all = distinctFindings(report)
  const byId = Map.groupBy(
    all.map(({ finding }) => finding),
    ({ vulnerabilityID }) => vulnerabilityID,
  )
  const indexOf = new Map(Array.from(byId.keys(), (id, index) => [id, index]))
  const uri = [...report.address.split('/'), report.version].map(encodeURIComponent).join('/')
  const rules = Array.from(byId, ([id, found]) => ruleOf(id, found))
  const results = all.map(({ finding, places }) => {
    const { vulnerabilityID: id, pkgName, installedVersion } = finding
    return {
      ruleId: id,
      ruleIndex: indexOf.get(id),
      level: levels[rankOf(finding.severity)],
      message: { text: `${textOf(finding)} (${places.join('; ')})` },
      locations: [
        {
          physicalLocation: { artifactLocation: { uri } },
          ...(pkgName !== '' && { logicalLocations: [{ name: pkgName }] }),
        },
      ],
      partialFingerprints: { 'finding/v1': [id, pkgName, installedVersion].join(' ') },
    }
  })
  return sarifLog({ name: 'Depot', rules }, results, noticesOf(report))
}

function ruleOf(id: string, findings: readonly ScanFinding[]) {
  const rank = Math.min(...findings.map(({ severity }) => rankOf(severity)))
  const text = findings.find(({ title }) => title !== '')?.title ?? id
  return {
    id,
    shortDescription: { text },
    defaultConfiguration: { level: levels[rank] },
    properties: { 'security-severity': scores[rank], tags: ['security'] },
  }
}

function textOf({ vulnerabilityID, pkgName, installedVersion, fixedVersion, title }: ScanFinding) {
  const subject = [pkgName, installedVersion].filter(Boolean).join(' ')
  const what = [subject, title || vulnerabilityID].filter(Boolean).join(': ')
  return fixedVersion ? `${what}; fixed in ${fixedVersion}` : what
}

/** Reasons why the results are not all there is. */
export function noticesOf({ unscanned, scans }: ScanReport): SarifNotice[] {
  const isCut = scans.some(({ truncated }) => truncated)
  return [
    ...unscanned.map((archive) => ['error', `${archive} was not scanned`] as const),
    ...(isCut
      ? [['warning', 'the mildest findings are left out, because there are too many'] as const]
      : []),
  ]
}
