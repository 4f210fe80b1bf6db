import { expect, it } from 'vitest'
import type { StoredObject } from '../../records/store/store.ts'
import { heldEventsOf } from './version-events.ts'

const held = (...heldBack: object[]): StoredObject => ({
  kind: 'Module',
  metadata: {
    namespace: 'team',
    name: 'vpc',
    uid: 'a',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: {},
    annotations: {},
    ownerReferences: [],
    finalizers: [],
  },
  spec: { moduleConfig: { name: 'network', provider: 'aws' } },
  status: { listing: { address: 'github.com/acme/vpc', heldBack } },
})
const since = '2026-01-01T00:00:00Z'
const hours = (count: number) => Date.parse(since) + count * 60 * 60_000

it('sends one event for a version that has been held back for a day', () => {
  const until = '2026-01-08T00:00:00Z'
  const module = held({ version: 'v1.1.0', since, until, why: 'TooYoung' })
  expect(heldEventsOf(module, hours(23))).toEqual([])
  const [event] = heldEventsOf(module, hours(24))
  expect(event).toMatchObject({
    type: 'depot.version.held',
    atMs: hours(24),
    subject: 'team/vpc',
    data: { name: 'network', system: 'aws', version: '1.1.0', why: 'TooYoung', since, until },
  })
  expect(heldEventsOf(module, hours(100))).toEqual([event])
  const again = held({ version: 'v1.1.0', since: '2026-01-02T00:00:00Z', until, why: 'TooYoung' })
  expect(heldEventsOf(again, hours(100))[0]?.id).not.toBe(event?.id)
})

it('says why a version is refused, and sends no event for versions that no rule allows', () => {
  const events = heldEventsOf(
    held(
      { version: '1.0.0', since, why: 'Denied', message: 'denied: stolen token' },
      { version: '1.1.0', since, why: 'NotAllowed', message: 'not allowed by any rule' },
      { version: '1.3.0', since, why: 'Refused', message: 'refused by the rule: licence' },
      { version: '1.2.0', why: 'Denied', message: 'denied: since nobody knows when' },
    ),
    hours(30),
  )
  expect(events.map(({ data }) => [data['version'], data['why'], data['message']])).toEqual([
    ['1.0.0', 'Denied', 'denied: stolen token'],
  ])
})

it('sends no event for a status that it cannot read', () => {
  expect(heldEventsOf({ ...held(), status: { listing: 'x' } }, hours(30))).toEqual([])
  expect(heldEventsOf({ ...held(), status: undefined }, hours(30))).toEqual([])
})
