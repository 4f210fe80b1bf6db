import { expect, it } from 'vitest'
import type { Finding } from '../../api/records.ts'
import { filterFindings } from './count.ts'

const finding = (vulnerabilityID: string, more: Partial<Finding> = {}): Finding => ({
  vulnerabilityID,
  severity: 'HIGH',
  pkgName: 'stdlib',
  installedVersion: '1.0.0',
  title: 'Denial of service',
  ...more,
})

const findings = [
  finding('CVE-2026-1', { severity: 'LOW', fixedVersion: '1.0.1' }),
  finding('CVE-2026-2', { pkgName: 'golang.org/x/Crypto', fixedVersion: '' }),
  finding('GHSA-aaaa', { severity: 'critical', title: 'Reads files of others' }),
  finding('CVE-2026-3', { severity: 'odd', fixedVersion: '2.0.0' }),
]

it.each([
  ['nothing', {}, ['GHSA-aaaa', 'CVE-2026-2', 'CVE-2026-1', 'CVE-2026-3']],
  ['part of an id, in any case', { text: 'ghsa' }, ['GHSA-aaaa']],
  ['part of a package, in any case', { text: 'X/CRYPTO' }, ['CVE-2026-2']],
  ['part of a title', { text: 'files of' }, ['GHSA-aaaa']],
  ['what nothing has', { text: 'openssl' }, []],
  ['what a pattern would match', { text: '.*' }, []],
  ['a fix', { fixable: true }, ['CVE-2026-1', 'CVE-2026-3']],
  ['a severity or a worse one', { severity: 'HIGH' }, ['GHSA-aaaa', 'CVE-2026-2']],
  ['all of these', { severity: 'LOW', text: 'cve', fixable: true }, ['CVE-2026-1']],
])('lists findings that have %s, worst first', (_what, filter, ids) => {
  const found = filterFindings(findings, { severity: '', text: '', fixable: false, ...filter })
  expect(found.map(({ vulnerabilityID }) => vulnerabilityID)).toEqual(ids)
})
