import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { findForTests, toolPath } from '../hack/testbed/tools.ts'
import { cycloneDxOf, type ScanReport, sarifOf } from '../pkg/api/findings/findings.ts'

const schemas = findForTests('report-schemas', () => toolPath('report-schemas'))

const finding = {
  vulnerabilityID: 'CVE-2026-1',
  pkgName: 'golang.org/x/net',
  installedVersion: 'v0.20.0',
  fixedVersion: '0.23.0',
  severity: 'CRITICAL',
  title: 'Endless headers',
}
const odd = {
  vulnerabilityID: 'a rule // of "ours" <&>',
  pkgName: '',
  installedVersion: '',
  severity: 'odd',
  title: '',
}
/** A scanner may write this. Depot removes control characters when it stores findings. */
const hostile = {
  vulnerabilityID: '../..#"]}<script>alert(1)</script>\u001b[31m',
  pkgName: '\u202e[x](javascript:alert(1))@\ud800',
  installedVersion: '%00 @\n',
  fixedVersion: 'https://evil.test/?a=b#c',
  severity: '__proto__',
  title: `]]><img src=x onerror=alert(1)>${'x'.repeat(10_000)}`,
}
const clean: ScanReport = {
  address: 'team/vpc/aws',
  version: '1.0.0-rc.1+build 2',
  scans: [{ in: 'source', scannedAt: '2026-11-26T08:00:00Z', findings: [] }],
  unscanned: [],
}
const reports: readonly ScanReport[] = [
  clean,
  {
    ...clean,
    scans: [
      {
        in: 'source',
        truncated: true,
        findings: [finding, odd, { ...odd, pkgName: 'ü' }, hostile],
      },
    ],
  },
  {
    ...clean,
    scans: [
      { in: 'binary', platforms: ['linux/amd64'], findings: [finding] },
      { in: 'binary', platforms: ['linux/arm64', 'darwin/arm64'], findings: [finding, odd] },
    ],
    unscanned: ['windows/amd64'],
  },
]

/** The result for each document: valid, or what is wrong. */
function checked(documents: readonly (readonly ['sarif' | 'cyclonedx', object])[]): string[] {
  const input = documents.map((document) => `${JSON.stringify(document)}\n`).join('')
  const { status, stdout, stderr } = spawnSync(schemas ?? '', { input, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout.trim().split('\n')
}

it.skipIf(schemas === undefined)('documents for other tools are valid by their schemas', () => {
  const documents = reports.flatMap(
    (report) =>
      [
        ['sarif', sarifOf(report)],
        ['cyclonedx', cycloneDxOf(report)],
      ] as const,
  )
  const wrong = [
    ['sarif', { ...sarifOf(clean), runs: 1 }],
    ['cyclonedx', { ...cycloneDxOf(clean), components: 1 }],
  ] as const
  const results = checked([...documents, ...wrong])
  expect(results.slice(0, documents.length)).toEqual(documents.map(() => 'valid'))
  expect(results.slice(documents.length).filter((result) => result !== 'valid')).toHaveLength(2)
})
