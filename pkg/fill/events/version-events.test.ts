import { expect, it } from 'vitest'
import { storedVersion } from '../../records/store/stored-object.fixture.ts'
import { eventsOf } from './version-events.ts'

const published = storedVersion(
  {},
  {
    spec: {
      type: 'Module',
      version: '1.0.0',
      moduleConfigRef: { name: 'vpc' },
      upload: { sha256: '0'.repeat(64) },
    },
  },
)
const eventsAfter = (status: object) => eventsOf({ ...published, status })
const artifact = { sha256: '0'.repeat(64), storedAt: '2026-01-01T00:00:02Z' }

it('sends an event when a version is served, after its archive was checked', () => {
  expect(eventsOf(published)).toEqual([])
  const [first, ...others] = eventsAfter({ artifact })
  expect(others).toEqual([])
  const atMs = Date.parse(artifact.storedAt)
  expect(first).toMatchObject({ type: 'depot.version.served', subject: 'team/vpc-1-0-0', atMs })
})

it('sends an event when a quarantine ends, however long it lasted', () => {
  const quarantineEndedAt = '2026-01-09T00:00:00Z'
  const [released, ...others] = eventsAfter({ artifact, quarantineEndedAt })
  expect(others).toEqual([])
  expect(released).toMatchObject({
    type: 'depot.version.served',
    atMs: Date.parse(quarantineEndedAt),
  })
  expect(released?.id).not.toBe(eventsAfter({ artifact })[0]?.id)
})

it.each([
  [{ quarantinedBy: [{ by: 'ScanPolicy', message: 'not scanned', since: artifact.storedAt }] }],
  [{ lifecycle: { state: 'Quarantined' } }],
])('sends no event that a version is served with the status %j', (status) => {
  expect(eventsAfter({ artifact, ...status })).toEqual([])
})
