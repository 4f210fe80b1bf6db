import { expect, it } from 'vitest'
import type { StoredObject } from '../../records/store/store.ts'
import { eventsOf } from './version-events.ts'

const published: StoredObject = {
  kind: 'Version',
  metadata: {
    namespace: 'team',
    name: 'vpc-1-0-0',
    uid: 'a',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: {},
    annotations: {},
    ownerReferences: [],
    finalizers: [],
  },
  spec: {
    type: 'Module',
    version: '1.0.0',
    moduleConfigRef: { name: 'vpc' },
    upload: { sha256: '0'.repeat(64) },
  },
}
const eventsAfter = (status: object) => eventsOf({ ...published, status })
const artifact = { sha256: '0'.repeat(64), storedAt: '2026-01-01T00:00:02Z' }

it('tells that a published version is served once, after its archive was looked at', () => {
  expect(eventsOf(published)).toEqual([])
  const [first, ...others] = eventsAfter({ artifact })
  expect(others).toEqual([])
  expect(first).toMatchObject({ type: 'depot.version.served', subject: 'team/vpc-1-0-0' })
  const checkedAgain = { artifact: { ...artifact, storedAt: '2026-01-01T09:00:00Z' } }
  expect(eventsAfter(checkedAgain).map(({ id }) => id)).toEqual([first?.id])
})

it.each([
  [{ quarantinedBy: [{ by: 'ScanPolicy', message: 'not scanned', since: artifact.storedAt }] }],
  [{ lifecycle: { state: 'Quarantined' } }],
])('does not tell that a version is served with the status %j', (status) => {
  expect(eventsAfter({ artifact, ...status })).toEqual([])
})
