import { describe, expect, it } from 'vitest'
import {
  archiveSizeOf,
  fileNameOf,
  normalizeVersion,
  parentRefOf,
  parseResource,
  sha256Hex,
} from './v1alpha1.ts'

it.each([
  ['v1.2.3', '1.2.3'],
  [' 1.2.3 ', '1.2.3'],
  ['V2.0.0-rc.1', '2.0.0-rc.1'],
  ['vv1.0.0', 'vv1.0.0'],
  ['version', 'version'],
])('normalizeVersion(%j) is %j', (version, normalized) => {
  expect(normalizeVersion(version)).toBe(normalized)
})

it.each([
  ['status.artifact', { artifact: { fileName: 'stored.zip' } }, 'stored.zip'],
  ['spec.upload', undefined, 'uploaded.zip'],
])('takes the name of an archive from %s before spec.fileName', (_, status, expected) => {
  const parsed = parseResource('Version', {
    metadata: { name: 'a', namespace: 'team', resourceVersion: '1' },
    spec: {
      type: 'Module',
      version: '1.0.0',
      fileName: 'named.zip',
      upload: { sha256: 'a'.repeat(64), fileName: 'uploaded.zip', sizeBytes: 7 },
    },
    status,
  })
  if (!parsed.ok) throw new Error(parsed.issues[0]?.message)
  expect(fileNameOf(parsed.resource)).toBe(expected)
  expect(archiveSizeOf(parsed.resource)).toBe(7)
})

describe('sha256Hex', () => {
  const hex = 'fb'.repeat(32)
  const base64 = Buffer.from(hex, 'hex').toString('base64')
  it.each([
    ['hexadecimal', hex],
    ['upper-case hexadecimal', hex.toUpperCase()],
    ['base64', base64],
    ['base64 without padding', base64.replace('=', '')],
    ['base64url', base64.replaceAll('+', '-').replaceAll('/', '_')],
  ])('reads %s', (_, digest) => {
    expect(sha256Hex(digest)).toBe(hex)
  })

  it.each(['', 'abc', hex.slice(1), `${hex}00`, 'z'.repeat(64), `${base64}=`])(
    'refuses %j',
    (digest) => {
      expect(sha256Hex(digest)).toBeUndefined()
    },
  )
})

describe('parentRefOf', () => {
  const parse = (owner: object[], spec: object) => {
    const parsed = parseResource('Version', {
      metadata: { name: 'x', ownerReferences: owner },
      spec: { type: 'Module', version: '1.0.0', ...spec },
    })
    return parsed.ok ? parentRefOf(parsed.resource) : parsed.issues
  }
  const owner = (kind: string) => ({ apiVersion: 'depot.internal/v1alpha1', kind, name: 'vpc' })

  it('prefers the owner reference of the right kind', () => {
    expect(
      parse([owner('Depot'), owner('Module')], { moduleConfigRef: { name: 'other' } }),
    ).toEqual({ kind: 'Module', name: 'vpc', owned: true, uid: '' })
  })

  it('falls back to the config', () => {
    expect(parse([owner('Depot')], { moduleConfigRef: { name: 'other' } })).toEqual({
      kind: 'Module',
      name: 'other',
      owned: false,
      uid: '',
    })
  })

  it('is undefined when there is neither', () => {
    expect(parse([], {})).toBeUndefined()
  })
})
