import { describe, expect, it } from 'vitest'
import { apiVersionOf, formatPath, parseResource } from './v1alpha1.ts'

const version = (spec: object, status?: object) => ({
  metadata: { name: 'vpc-1.0.0', namespace: 'platform' },
  spec: { type: 'Module', version: '1.0.0', ...spec },
  ...(status && { status }),
})

describe('parseResource', () => {
  it('drops unknown fields', () => {
    const parsed = parseResource('Version', { ...version({ later: { deep: 1 } }), more: true })
    expect(parsed).toMatchObject({ ok: true, resource: { kind: 'Version' } })
    expect(JSON.stringify(parsed)).not.toContain('later')
  })

  it.each([
    'ABCD 1234 EF56 7890 ABCD  1234 EF56 7890 ABCD 1234',
    '      abcd 1234 ef56 7890 abcd  1234 ef56 7890 abcd 1234',
    '0xabcd1234ef567890abcd1234ef567890abcd1234',
    'A'.repeat(64),
    '-----BEGIN PGP PUBLIC KEY BLOCK-----',
  ])('takes a trusted key as gpg prints it: %s', (key) => {
    const spec = { providerConfig: { name: 'dns', trustedKeys: [key] } }
    const metadata = { name: 'dns', namespace: 'team' }
    expect(parseResource('Provider', { metadata, spec })).toMatchObject({ ok: true })
  })

  it('treats null as absent', () => {
    const parsed = parseResource('Module', {
      metadata: { name: 'vpc', labels: null },
      spec: { moduleConfig: { provider: null }, versions: null },
      status: null,
    })
    expect(parsed).toMatchObject({
      ok: true,
      resource: { metadata: { namespace: 'default' }, spec: { moduleConfig: {}, versions: [] } },
    })
  })

  it.each([
    {
      name: 'a missing field',
      raw: version({ version: undefined }),
      path: 'spec.version',
      message: 'is required (string)',
    },
    {
      name: 'a wrong type',
      raw: version({ fileName: 7 }),
      path: 'spec.fileName',
      message: 'must be a string, and is the number 7: put it in quotes',
    },
    {
      name: 'a wrong type in a list',
      raw: version({}, { sourceScan: { findings: [{}, { title: 1 }] } }),
      path: 'status.sourceScan.findings[1].title',
      message: 'must be a string, and is the number 1: put it in quotes',
    },
    {
      name: 'a word that is not one of the choices',
      raw: version({ type: 'Policy' }),
      path: 'spec.type',
      message: 'must be "Module" or "Provider", and is "Policy"',
    },
    {
      name: 'two backends',
      raw: version({
        moduleConfigRef: {
          storageConfig: { gcs: { bucket: 'a' }, fileSystem: { directoryPath: 'b' } },
        },
      }),
      path: 'spec.moduleConfigRef.storageConfig',
      message: 'must name exactly one backend of s3, azureStorage, gcs, fileSystem',
    },
    {
      name: 'no backend',
      raw: version({ moduleConfigRef: { storageConfig: {} } }),
      path: 'spec.moduleConfigRef.storageConfig',
      message: 'must name exactly one backend of s3, azureStorage, gcs, fileSystem',
    },
    {
      name: 'a list instead of an object',
      raw: [],
      path: '',
      message: 'must be an object, and is a list',
    },
  ])('names the path of $name', ({ raw, path, message }) => {
    const parsed = parseResource('Version', raw)
    const issues = parsed.ok ? [] : parsed.issues
    expect(
      issues.map((issue) => ({ path: formatPath(issue.path), message: issue.message })),
    ).toEqual([{ path, message }])
  })
})

it('gives core kinds the core API version', () => {
  expect(apiVersionOf('Namespace', 'depot.internal')).toBe('v1')
  expect(apiVersionOf('Version', 'acme.example')).toBe('acme.example/v1alpha1')
})

it('reads the first 2,000 findings of a scan, so that no object delays all others', () => {
  const findings = Array.from({ length: 30_000 }, (_, i) => ({ vulnerabilityID: `CVE-${i}` }))
  const parsed = parseResource('Version', {
    metadata: { name: 'v' },
    spec: { type: 'Module', version: '1.0.0' },
    status: { synced: true, sourceScan: { scannedAt: 'now', findings }, binaryScan: {} },
  })
  expect(parsed).toMatchObject({ ok: true, resource: { status: { synced: true } } })
  const status = parsed.ok ? parsed.resource.status : undefined
  expect(status?.sourceScan?.scannedAt).toBe('now')
  expect(status?.sourceScan?.findings).toHaveLength(2_000)
  expect(status?.sourceScan?.findings.at(-1)?.vulnerabilityID).toBe('CVE-1999')
})

it('drops owners of other groups, whose kinds may have the same names', () => {
  const owner = (apiVersion: string) => ({ apiVersion, kind: 'Module', name: 'm', uid: 'u' })
  const ownerReferences = [owner('other.example/v1'), owner('depot.internal/v1')]
  const parsed = parseResource('Version', {
    apiVersion: 'depot.internal/v1alpha1',
    metadata: { name: 'v', ownerReferences },
    spec: { type: 'Module', version: '1.0.0' },
  })
  const owners = parsed.ok ? parsed.resource.metadata.ownerReferences : []
  expect(owners.map(({ apiVersion }) => apiVersion)).toEqual(['depot.internal/v1'])
})
