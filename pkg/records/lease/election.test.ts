import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { TestLease } from './lease.fixture.ts'
import { LeaseElection } from './lease.ts'

const timings = { leaseMs: 600, renewMs: 400, retryMs: 50 }
/** A lease that no replica loses, even if this process is paused. */
const longTimings = { ...timings, leaseMs: 60_000, renewMs: 40_000 }
let lease: TestLease

beforeEach(() => {
  lease = new TestLease()
})

/** A replica that waits for the lease, and records when it gets and loses it. */
function replica(identity: string, wanted = timings) {
  const events: string[] = []
  const metrics = createMetrics({ version: 'test' })
  const election = new LeaseElection({
    client: lease.client(),
    namespace: 'team',
    name: 'depot',
    identity,
    onHeld: (signal) => {
      events.push('held')
      signal.addEventListener('abort', () => events.push('lost'))
    },
    log: createLogger('silent'),
    metrics,
    timings: wanted,
  })
  onTestFinished(() => election.release())
  return { election, events, metrics }
}

const until = (check: () => void) => vi.waitFor(check, { timeout: 10_000, interval: 5 })

it('gives the lease to one of two, and to the other when it is released', async () => {
  const [one, two] = [replica('one', longTimings), replica('two', longTimings)]
  one.election.start()
  await until(() => expect(one.election.held()).toBe(true))
  two.election.start()
  await until(() => expect(lease.spec).toMatchObject({ holderIdentity: 'one' }))
  expect(two.election.held()).toBe(false)
  await one.election.release()
  expect(one.events).toEqual(['held', 'lost'])
  await until(() => expect(two.election.held()).toBe(true))
  expect(lease.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 2 })
})

it('gives the lease to another replica when the holder stops renewing it', async () => {
  lease.spec = { holderIdentity: 'dead', leaseDurationSeconds: 0.6, leaseTransitions: 7 }
  const startedMs = performance.now()
  const two = replica('two')
  two.election.start()
  await until(() => expect(two.election.held()).toBe(true))
  expect(performance.now() - startedMs).toBeGreaterThan(590)
  expect(lease.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 8 })
})

it('stops its work before another replica can take the lease', async () => {
  const [one, two] = [replica('one'), replica('two')]
  one.election.start()
  await until(() => expect(one.election.held()).toBe(true))
  lease.isUnreachable = true
  await until(() => expect(one.events).toEqual(['held', 'lost']))
  expect(one.election.held()).toBe(false)
  lease.isUnreachable = false
  two.election.start()
  await until(() => expect([one, two].map(({ election }) => election.held())).toContain(true))
  const text = await one.metrics.metrics()
  expect(text).toMatch(/^depot_lease_\w*loss\w* 1$/m)
})

it('refuses writes while the lease is not held', async () => {
  const { election } = replica('one', longTimings)
  const object = { kind: 'ConfigMap', metadata: { namespace: 'team', name: 'written' } } as const
  const write = () => election.guard(lease.client()).create(object)
  await expect(write()).rejects.toMatchObject({ reason: 'NotHeld' })
  election.start()
  await until(() => expect(election.held()).toBe(true))
  await expect(write()).rejects.toMatchObject({ reason: 'AlreadyExists' })
})
