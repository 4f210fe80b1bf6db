import { describe, expect, it } from 'vitest'
import {
  cycloneDxOf,
  findingsText,
  isAtLeast,
  packagesOf,
  type ScanReport,
  sarifOf,
} from './findings.ts'

const finding = (vulnerabilityID: string, fixedVersion?: string, severity = 'HIGH') => ({
  vulnerabilityID,
  pkgName: 'stdlib',
  installedVersion: 'v1.21.5',
  severity,
  title: 'Endless headers',
  ...(fixedVersion !== undefined && { fixedVersion }),
})

describe('an upgrade', () => {
  it.each([
    ['the highest of the fixes', ['1.21.6', '1.21.9', '1.21.7'], '1.21.9', 3],
    ['the fix of the own line', ['1.21.8, 1.22.1', '1.21.9, 1.22.2'], '1.21.9', 2],
    ['a line that has every fix', ['1.21.8, 1.22.1', '1.22.3'], '1.22.3', 2],
    ['a line in between', ['1.21.6', '1.21.7', '2.0.1, 1.30.0'], '1.30.0', 3],
    ['no line before its own fix', ['1.21.8, 1.22.5', '1.22.3'], '1.22.5', 2],
    ['nothing where fixes are unknown', [undefined, ''], undefined, undefined],
    ['nothing where fixes are not versions', ['will not fix'], undefined, undefined],
    ['a release after its candidates', ['1.22.0-rc.1', '1.22.0'], '1.22.0', 2],
    ['no version that is older than the installed one', ['1.20.1'], undefined, undefined],
    ['as much as can be fixed', ['1.21.6', undefined, '1.21.6'], '1.21.6', 2],
  ])('names %s', (_, fixes, fixedIn, closes) => {
    const all = fixes.map((fix, index) => finding(`CVE-${index}`, fix))
    expect(packagesOf(all)).toEqual([
      {
        pkgName: 'stdlib',
        installedVersion: 'v1.21.5',
        severity: 'HIGH',
        findings: fixes.length,
        ...(fixedIn !== undefined && { fixedIn, closes }),
      },
    ])
  })

  it('is found soon, however many versions a scanner writes', () => {
    const versions = (from: number) =>
      Array.from({ length: 60 }, (_, patch) => `${from}.${patch}.0`).join(',')
    const all = Array.from({ length: 2_000 }, (_, at) => finding(`CVE-${at}`, versions(at + 2)))
    expect(packagesOf(all)).toMatchObject([{ findings: 2_000, closes: 2_000 }])
  })
})

it('lists the worst packages first, then those with most findings', () => {
  const other = (pkgName: string, severity: string, id = pkgName) => ({
    ...finding(id, undefined, severity),
    pkgName,
  })
  const all = [other('a', 'LOW'), other('b', 'HIGH'), other('c', 'odd'), other('d', 'HIGH')]
  const found = packagesOf([...all, other('d', 'medium', 'CVE-2')])
  expect(found.map(({ pkgName, severity }) => [pkgName, severity])).toEqual([
    ['d', 'HIGH'],
    ['b', 'HIGH'],
    ['a', 'LOW'],
    ['c', 'UNKNOWN'],
  ])
})

it('compares severities', () => {
  expect(isAtLeast(finding('A', undefined, 'critical'), 'HIGH')).toBe(true)
  expect(isAtLeast(finding('A', undefined, 'MEDIUM'), 'HIGH')).toBe(false)
  expect(isAtLeast(finding('A', undefined, 'odd'), 'UNKNOWN')).toBe(true)
})

const report: ScanReport = {
  address: 'team/random',
  version: '1.0.0',
  scans: [
    { in: 'binary', platforms: ['linux/amd64'], findings: [finding('CVE-1', '1.21.6')] },
    {
      in: 'binary',
      platforms: ['linux/arm64', 'darwin/arm64'],
      truncated: true,
      findings: [finding('CVE-1', '1.21.6', 'CRITICAL'), finding('CVE-2', undefined, 'LOW')],
    },
  ],
  unscanned: ['windows/amd64'],
}

it('writes each finding once as SARIF, in its worst severity, and what was not scanned', () => {
  const [run] = sarifOf(report).runs
  expect(run?.results).toMatchObject([
    {
      ruleId: 'CVE-1',
      ruleIndex: 0,
      level: 'error',
      message: {
        text: 'stdlib v1.21.5: Endless headers; fixed in 1.21.6 (linux/amd64; linux/arm64, darwin/arm64)',
      },
      locations: [
        {
          physicalLocation: { artifactLocation: { uri: 'team/random/1.0.0' } },
          logicalLocations: [{ name: 'stdlib' }],
        },
      ],
    },
    { ruleId: 'CVE-2', level: 'note' },
  ])
  expect(run?.tool.driver.rules).toMatchObject([
    { id: 'CVE-1', properties: { 'security-severity': '9.5' } },
    { id: 'CVE-2', properties: { 'security-severity': '2.0' } },
  ])
  expect(run?.invocations).toEqual([
    {
      executionSuccessful: false,
      toolExecutionNotifications: [
        { level: 'error', message: { text: 'windows/amd64 was not scanned' } },
        {
          level: 'warning',
          message: { text: 'the mildest findings are left out, because there are too many' },
        },
      ],
    },
  ])
})

it('writes packages and their vulnerabilities as CycloneDX', () => {
  expect(cycloneDxOf(report)).toMatchObject({
    metadata: {
      component: { name: 'team/random', version: '1.0.0' },
      properties: [
        { name: 'depot:error', value: 'windows/amd64 was not scanned' },
        { name: 'depot:warning' },
      ],
    },
    components: [{ name: 'stdlib', version: 'v1.21.5', 'bom-ref': expect.any(String) as string }],
    vulnerabilities: [
      { id: 'CVE-1', ratings: [{ severity: 'critical' }], recommendation: 'Upgrade to 1.21.6' },
      { id: 'CVE-2', ratings: [{ severity: 'low' }] },
    ],
  })
})

it.each([
  ['text', findingsText],
  ['SARIF', sarifOf],
  ['CycloneDX', cycloneDxOf],
])('reads each of many findings a few times for %s', (_, write) => {
  const count = 2_000
  let reads = 0
  const findings = Array.from({ length: count }, (_empty, at) => ({
    ...finding('', '1.22.0'),
    get vulnerabilityID() {
      reads += 1
      return `CVE-${at}`
    },
    get pkgName() {
      reads += 1
      return `package-${at}`
    },
  }))
  write({ ...report, scans: [{ in: 'source', findings }] })
  expect(reads).toBeLessThan(20 * count)
})
