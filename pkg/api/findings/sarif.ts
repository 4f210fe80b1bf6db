import { distinctFindings, type ScanReport } from './scan-report.ts'
import { rankOf, type ScanFinding } from './upgrades.ts'

/** Levels by rank. */
const levels = ['error', 'error', 'warning', 'note', 'none'] as const
/** Scores of CVSS by rank, with which GitHub sorts. */
const scores = ['9.5', '8.0', '5.5', '2.0', '0.0'] as const

/**
 * The findings of a version in the format of tools for static analysis.
 *
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
export function sarifOf(report: ScanReport) {
  const all = distinctFindings(report)
  const byId = Map.groupBy(
    all.map(({ finding }) => finding),
    ({ vulnerabilityID }) => vulnerabilityID,
  )
  const indexOf = new Map(Array.from(byId.keys(), (id, index) => [id, index]))
  const uri = [...report.address.split('/'), report.version].map(encodeURIComponent).join('/')
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'Depot',
            rules: Array.from(byId, ([id, found]) => ruleOf(id, found)),
          },
        },
        invocations: [
          {
            executionSuccessful: report.unscanned.length === 0,
            toolExecutionNotifications: noticesOf(report).map(([level, text]) => ({
              level,
              message: { text },
            })),
          },
        ],
        results: all.map(({ finding, places }) => ({
          ruleId: finding.vulnerabilityID,
          ruleIndex: indexOf.get(finding.vulnerabilityID),
          level: levels[rankOf(finding.severity)],
          message: { text: `${textOf(finding)} (${places.join('; ')})` },
          locations: [
            {
              physicalLocation: { artifactLocation: { uri } },
              ...(finding.pkgName !== '' && { logicalLocations: [{ name: finding.pkgName }] }),
            },
          ],
          partialFingerprints: {
            'finding/v1': [finding.vulnerabilityID, finding.pkgName, finding.installedVersion].join(
              ' ',
            ),
          },
        })),
      },
    ],
  }
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
export function noticesOf({
  unscanned,
  scans,
}: ScanReport): (readonly ['error' | 'warning', string])[] {
  const isCut = scans.some(({ truncated }) => truncated)
  return [
    ...unscanned.map((archive) => ['error', `${archive} was not scanned`] as const),
    ...(isCut
      ? [['warning', 'the mildest findings are left out, because there are too many'] as const]
      : []),
  ]
}
