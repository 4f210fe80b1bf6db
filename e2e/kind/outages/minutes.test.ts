import { afterAll, beforeAll, expect, it } from 'vitest'
import { kubectl, kubectlHere, until } from '../cluster.fixture.ts'
import { addressesOf, restartsOf, silenceOf, withoutApiServer } from '../control-plane.fixture.ts'
import {
  applySamples,
  countOf,
  download,
  install,
  makeNamespace,
  ownEnd,
  podsOf,
  prepare,
  settledCount,
  startLoad,
  uninstall,
  versionsOf,
} from '../release.fixture.ts'

/* Outages that last longer than watches, leases and probes wait. */

const network = 'platform/network/aws'

/** A little longer than DepotWatchStale allows a watch to be silent. */
const outageMs = 330_000

beforeAll(async () => {
  await makeNamespace()
  await install({
    server: { ...ownEnd, anonymousAuth: true, replicaCount: 2, stats: { refreshInterval: '1s' } },
  })
  await prepare()
})
afterAll(() => uninstall())

it('the API server and Valkey unavailable for minutes: answers continue, and nothing is lost', async () => {
  const pods = await podsOf('server')
  const addresses = await addressesOf('server')
  const before = await settledCount('network', '1.0.0')
  await kubectlHere('scale', 'statefulset/depot-valkey', '--replicas=0')
  await until(
    () => podsOf('valkey'),
    (valkeys) => valkeys.length === 0,
  )
  const load = startLoad()
  let downloads = 0
  const seen = await withoutApiServer(async () => {
    const back = Date.now() + outageMs
    while (Date.now() < back) {
      expect(await download(network, '1.0.0')).toBe(200)
      downloads += 1
      await new Promise((done) => setTimeout(done, 1_000))
    }
    return Promise.all(addresses.map(silenceOf))
  })
  const { answered, failed } = await load.stop()
  console.log(
    `API server and Valkey unavailable for ${outageMs / 1000} s: ${answered} requests answered, ${failed.length} failed, ` +
      `${downloads} downloads, last contact ${seen.map((seconds) => Math.round(seconds)).join(' and ')} s ago`,
  )
  expect(failed).toEqual([])
  // The metric that DepotWatchStale reads.
  for (const seconds of seen) expect(seconds).toBeGreaterThan(300)
  expect(await restartsOf('server')).toBe(0)
  expect(await podsOf('server')).toEqual(pods)

  await kubectlHere('scale', 'statefulset/depot-valkey', '--replicas=1')
  for (const pod of pods)
    await until(
      () => countOf(pod, 'network', '1.0.0'),
      (count) => count === before + downloads,
      180_000,
    )
  await kubectl('-n', 'platform', 'delete', 'versions.depot.internal', 'network-1.1.0')
  await until(
    () => versionsOf(network),
    (versions) => JSON.stringify(versions) === '["2.0.0","1.0.0"]',
  )
  await until(
    () => Promise.all(addresses.map(silenceOf)),
    (silent) => silent.every((seconds) => seconds < 90),
  )
  await applySamples()
})
