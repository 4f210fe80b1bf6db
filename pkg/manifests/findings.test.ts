import { expect, it } from 'vitest'
import type { Version } from '../apis/v1alpha1/v1alpha1.ts'
import { moduleText, startSource, versionText } from './source.fixture.ts'

const finding = {
  vulnerabilityID: 'CVE-2026-1',
  pkgName: 'openssl',
  installedVersion: '3.0.1',
  severity: 'HIGH',
  title: 'a buffer is read beyond its end',
}
const scan = (...findings: object[]) =>
  `status:\n  sourceScan: ${JSON.stringify({ findings, scannedAt: '2026-11-01T00:00:00Z' })}\n`

it('equal findings of several files are in memory once', async () => {
  const other = { ...finding, pkgName: 'zlib' }
  await using source = await startSource({
    'module.yaml': moduleText('vpc'),
    '1.yaml': versionText('vpc', '1.0.0', scan(finding, other)),
    '2.yaml': versionText('vpc', '2.0.0', scan(other, finding)),
  })
  const findingsOf = (version: string) => {
    const { status } = source.sink.objects.get(`Version vpc-${version}`) as Version
    return status?.sourceScan?.findings ?? []
  }
  const [first, second] = [findingsOf('1.0.0'), findingsOf('2.0.0')]
  expect(first).toEqual([expect.objectContaining(finding), expect.objectContaining(other)])
  expect(second[1]).toBe(first[0])
  expect(second[0]).toBe(first[1])
})
