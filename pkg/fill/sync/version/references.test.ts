import { expect, it } from 'vitest'
import { filesOf } from './references.ts'

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
  expect(filesOf(object)).toEqual(['SHA256SUMS.sig', 'vpc-0.9.0.zip'])
})
