import { expect, it } from 'vitest'
import { othersNaming } from './remove.ts'
import { namesOf } from './work.ts'

const metadata = {
  name: 'vpc-1-0-0',
  namespace: 'platform',
  uid: '1',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels: {},
  annotations: {},
  finalizers: [],
  ownerReferences: [],
}

it('ignores object names with a folder, which must not be removed', () => {
  const object = {
    kind: 'Version' as const,
    metadata,
    spec: {},
    status: {
      artifact: { fileName: 'other-module/vpc-1.0.0.zip', sourceKey: 'forged' },
      release: { shasums: '../SHA256SUMS', signature: 'SHA256SUMS.sig' },
      replaced: [{ fileName: 'a/b.zip' }, { fileName: 'vpc-0.9.0.zip' }],
    },
  }
  expect(namesOf(object)).toEqual(['SHA256SUMS.sig', 'vpc-0.9.0.zip'])
})

it.each([
  ['is served', {}, true],
  ['may return, because only its owner is absent', { ownerAbsent: true as const }, true],
  ['is deleted', { deletionTimestamp: '2026-01-02T00:00:00Z' }, false],
])('an archive is needed by another Version that %s', (_, more, isShared) => {
  const { ownerAbsent } = more as { ownerAbsent?: true }
  const deleted = ownerAbsent && { deletionTimestamp: '2026-01-02T00:00:00Z' }
  const other = {
    kind: 'Version' as const,
    metadata: { ...metadata, uid: '2', ...deleted, ...more },
    spec: {},
    status: { artifact: { fileName: 'vpc-1.0.0.zip', sourceKey: 'key' } },
  }
  const context = {
    apiGroup: 'depot.internal',
    objects: { list: () => [other] },
    removals: { all: [] },
  }
  const at = { place: { backend: 'filesystem' }, placeId: 'here' }
  const file = { fileName: 'vpc-1.0.0.zip', at }
  const others = othersNaming(context as never, file as never)
  expect(others).toEqual({ isShared, elsewhere: [] })
})
