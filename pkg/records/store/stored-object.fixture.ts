import type { StoredObject } from './types.ts'

/** A Version as it is stored, of which a test says what matters to it. */
export const storedVersion = (
  { name = 'vpc-1-0-0', namespace = 'team', uid = 'a' } = {},
  { spec = {}, status }: Partial<Pick<StoredObject, 'spec' | 'status'>> = {},
): StoredObject => ({
  kind: 'Version',
  metadata: {
    namespace,
    name,
    uid,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: {},
    annotations: {},
    finalizers: [],
    ownerReferences: [],
  },
  spec,
  ...(status !== undefined && { status }),
})
