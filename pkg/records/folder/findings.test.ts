import { expect, it, vi } from 'vitest'
import type { Version } from '../../api/v1alpha1/v1alpha1.ts'
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

it('stores equal findings of several files once', async () => {
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

it('reads a Version with more new findings than are compared one by one the same way again', async () => {
  const findings = Array.from({ length: 600 }, (_, index) => ({
    ...finding,
    vulnerabilityID: `CVE-2026-${1000 + index}`,
  }))
  const version = {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Version',
    metadata: { name: 'vpc-1.0.0' },
    spec: { type: 'Module', version: '1.0.0', fileName: 'a.zip', moduleConfigRef: { name: 'vpc' } },
    status: { sourceScan: { findings, scannedAt: '2026-11-01T00:00:00Z' } },
  }
  const moduleOf = (name: string) => ({
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Module',
    metadata: { name },
    spec: { moduleConfig: {} },
  })
  const list = (...items: object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  await using source = await startSource({ 'a.json': list(version) })
  expect(source.sink.names).toEqual(['Version vpc-1.0.0'])
  for (const name of ['one', 'two', 'three', 'four']) {
    await source.write('a.json', list(version, moduleOf(name)))
    await vi.waitFor(() => expect(source.sink.names).toContain(`Module ${name}`))
  }
  expect(source.sink.changes).not.toContain('upsert Version vpc-1.0.0')
})
