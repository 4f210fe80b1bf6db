import { expect, it } from 'vitest'
import type { Version } from '../../api/v1alpha1/v1alpha1.ts'
import { scanVerdict } from './policy.ts'

type Status = NonNullable<Version['status']>

const sha256 = 'a'.repeat(64)
const scanOf = (...ids: string[]): Status['sourceScan'] => ({
  findings: ids.map((vulnerabilityID) => ({
    vulnerabilityID,
    pkgName: 'p',
    installedVersion: '1',
    severity: 'CRITICAL',
    title: '',
  })),
})
const summary = (critical: number): NonNullable<Status['scan']> => ({
  sha256,
  scanner: 'scanner',
  counts: { critical, high: 0, medium: 0, low: 0, unknown: 0 },
})
const message = (status: Status): string =>
  scanVerdict({ policy: { block: 'CRITICAL', ignore: [accepted] }, status, sha256, nowMs: 0 })
    .message ?? ''
const accepted = { id: 'KNOWN', reason: 'not called', until: '2999-01-01' }
const cut = /^scans found CRITICAL: more findings than can be listed;/

it.each<[string, Status, RegExp]>([
  ['whole', { scan: summary(1), binaryScan: scanOf('KNOWN') }, /^$/],
  ['cut', { scan: summary(2), binaryScan: scanOf('KNOWN') }, cut],
  ['cut of a module', { scan: summary(2), sourceScan: scanOf('KNOWN') }, cut],
  [
    'cut next to the source scan of another program',
    { scan: summary(2), binaryScan: scanOf('KNOWN'), sourceScan: scanOf('KNOWN', 'KNOWN') },
    cut,
  ],
  [
    'whole next to a cut one of go.mod',
    {
      scan: summary(1),
      binaryScan: scanOf('KNOWN'),
      dependencyScan: summary(3),
      sourceScan: scanOf('KNOWN'),
    },
    cut,
  ],
  [
    'whole next to the source scan of another program',
    { scan: summary(1), binaryScan: scanOf('KNOWN'), sourceScan: scanOf('FOREIGN') },
    /^scans found CRITICAL: FOREIGN;/,
  ],
])('a list that is %s decides with what it leaves out', (_, status, expected) => {
  expect(message(status)).toMatch(expected)
})
