import { describe, expect, it } from 'vitest'
import { formatPath, unknownFieldsIn } from './v1alpha1.ts'

const found = (kind: 'Module' | 'Version' | 'Depot' | 'Namespace', raw: object) =>
  unknownFieldsIn(kind, raw).map(({ path, message }) => `${formatPath(path)} ${message}`)

describe('a field that nothing reads', () => {
  it.each<[string, object, string]>([
    ['other capitals', { filename: 'a.zip' }, 'spec.filename is not a known field: write fileName'],
    ['swapped letters', { fileNmae: 'a' }, 'spec.fileNmae is not a known field: write fileName'],
    [
      'another separator',
      { file_name: 'a' },
      'spec.file_name is not a known field: write fileName',
    ],
    [
      'another place',
      { storageConfig: {} },
      'spec.storageConfig is not a known field here: write it inside moduleConfigRef or providerConfigRef',
    ],
    [
      'inside of a field',
      { upload: { sha: 'a' } },
      'spec.upload.sha is not a known field: there are fileName, sha256, sizeBytes, contentDigest, publication, docs, release',
    ],
  ])('is reported with the field to write instead: %s', (_, spec, text) => {
    expect(found('Version', { spec: { type: 'Module', version: '1.0.0', ...spec } })).toEqual([
      text,
    ])
  })

  it('is found next to spec, and in lists', () => {
    const moduleConfigs = [{ name: 'a' }, { name: 'b', Provider: 'aws' }]
    expect(found('Depot', { specs: 1, spec: { moduleConfigs } })).toEqual([
      'specs is not a known field: there are apiVersion, kind, metadata, spec, status',
      'spec.moduleConfigs[1].Provider is not a known field: write provider',
    ])
  })

  it('is ignored in a status, in metadata, and where its value is null', () => {
    const raw = { metadata: { managedFields: [] }, spec: { later: null }, status: { later: 1 } }
    expect(found('Module', raw)).toEqual([])
    expect(found('Namespace', { spec: { finalizers: [] } })).toEqual([])
  })

  it('is reported at most ten times for one object', () => {
    const spec = Object.fromEntries(Array.from({ length: 1000 }, (__, index) => [`x${index}`, 1]))
    expect(found('Version', { spec: JSON.parse(`{"__proto__":1,"constructor":2}`) })).toHaveLength(
      2,
    )
    expect(found('Version', { spec })).toHaveLength(10)
  })
})
