import { afterAll, beforeAll, expect, it } from 'vitest'
import { kind, kubectl, kubectlHere, podsIn, run, until } from './cluster.fixture.ts'
import { addressesOf, restartsOf, silenceOf, withoutApiServer } from './control-plane.fixture.ts'
import {
  applySamples,
  countOf,
  download,
  getFrom,
  install,
  makeNamespace,
  metricOf,
  ownEnd,
  podsOf,
  prepare,
  settledCount,
  startLoad,
  stopAll,
  uninstall,
  versionsOf,
} from './release.fixture.ts'

/* Each part fails once while the registry is in use. */

const network = 'platform/network/aws'

const sumOver = async (pods: readonly string[], name: string): Promise<number> =>
  (await Promise.all(pods.map((pod) => metricOf(pod, name)))).reduce((sum, one) => sum + one, 0)

/** Runs JavaScript in a pod of the server, which has no shell. */
const inPod = (pod: string, script: string): Promise<string> =>
  kubectlHere('exec', pod, '--', '/nodejs/bin/node', '-e', script)

const fill = `const fs = require('node:fs')
try { for (;;) fs.appendFileSync('/var/lib/depot/full', Buffer.alloc(512)) } catch (err) { if (err.code !== 'ENOSPC') throw err }`
const empty = "require('node:fs').rmSync('/var/lib/depot/full')"

/** Changes the Deployment without Helm, like an operator in a hurry. */
async function changeServer(spec: object, wait = true): Promise<void> {
  await kubectlHere('patch', 'deployment/depot-server', '-p', JSON.stringify({ spec }))
  if (wait) await kubectlHere('rollout', 'status', 'deployment/depot-server', '--timeout=90s')
}

beforeAll(async () => {
  await makeNamespace()
  await install({
    server: {
      ...ownEnd,
      anonymousAuth: true,
      replicaCount: 2,
      stats: { refreshInterval: '1s' },
      podDisruptionBudget: { enabled: true },
    },
  })
  await prepare()
})

// Helm would not revert the changes of kubectl.
afterAll(() => uninstall())

it('a killed pod is replaced, and no other pod fails with it', async () => {
  const [pod = ''] = await podsOf('server')
  await kubectlHere('delete', 'pod', pod, '--grace-period=0', '--force')
  await until(
    () => versionsOf(network),
    (versions) => typeof versions !== 'number',
  )
  await kubectlHere('rollout', 'status', 'deployment/depot-server', '--timeout=60s')
  expect(await podsOf('server')).toHaveLength(2)
})

it('draining the node leaves one of two replicas, and no request is lost', async () => {
  const load = startLoad()
  const flags = ['--ignore-daemonsets', '--delete-emptydir-data', '--timeout=12s']
  const selector = '--pod-selector=app.kubernetes.io/component=server'
  const drained = await run('kubectl', ['drain', kind.node, selector, ...flags])
  const { answered, failed } = await load.stop()
  await kubectl('uncordon', kind.node)
  await kubectlHere('rollout', 'status', 'deployment/depot-server', '--timeout=60s')
  expect(drained.stderr).toContain("violate the pod's disruption budget")
  expect(failed).toEqual([])
  expect(answered).toBeGreaterThan(50)
})

it('Valkey unavailable: downloads continue, and afterwards every one of them is counted', async () => {
  const before = await settledCount('network', '1.0.0')
  await stopAll('statefulset/depot-valkey', 'valkey')
  for (let count = 0; count < 20; count += 1) expect(await download(network, '1.0.0')).toBe(200)
  const pods = await podsOf('server')
  await until(
    () => sumOver(pods, 'download_queue_events'),
    (waiting) => waiting === 20,
  )
  await until(
    () => sumOver(pods, 'download_store_up'),
    (up) => up === 0,
  )
  await kubectlHere('scale', 'statefulset/depot-valkey', '--replicas=1')
  for (const one of pods) {
    await until(
      () => countOf(one, 'network', '1.0.0'),
      (seen) => seen === before + 20,
    )
  }
  await until(
    () => sumOver(pods, 'download_queue_events'),
    (waiting) => waiting === 0,
  )
  expect(await sumOver(pods, 'download_store_up')).toBe(pods.length)
})

it('a full disk of the queue: downloads continue, and are counted once there is space', async () => {
  // A disk of a megabyte reports at once that it is full. The kubelet only measures a volume in memory from time to time.
  const volume = { name: 'data', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }
  await changeServer({ template: { spec: { volumes: [volume] } } })
  const pods = await podsOf('server')
  const before = await settledCount('network', '1.1.0')
  await Promise.all(pods.map((pod) => inPod(pod, fill)))
  for (let count = 0; count < 20; count += 1) expect(await download(network, '1.1.0')).toBe(200)
  await until(
    () => kubectlHere('logs', '-l', 'app.kubernetes.io/component=server', '--tail=-1'),
    (log) => log.includes('download events cannot be written to disk'),
  )
  await Promise.all(pods.map((pod) => inPod(pod, empty)))
  for (const pod of pods) {
    await until(
      () => countOf(pod, 'network', '1.1.0'),
      (seen) => seen === before + 20,
    )
  }
  expect(await sumOver(pods, 'download_events_dropped_total')).toBe(0)
})

it('a memory limit that is too low: new pods end, and the old ones continue', async () => {
  const [old = ''] = await podsOf('server')
  const memory = '48Mi'
  const container = { name: 'server', resources: { requests: { memory }, limits: { memory } } }
  await changeServer({ template: { spec: { containers: [container] } } }, false)
  await until(
    () => podsIn('server'),
    (pods) =>
      pods.some(({ status }) =>
        status.containerStatuses?.some(
          ({ lastState }) => lastState.terminated?.reason === 'OOMKilled',
        ),
      ),
  )
  expect(await download(network, '2.0.0')).toBe(200)
  // The metric that warns before the limit is reached.
  const exposition = await getFrom(old, '/metrics', 9090)
  const resident = /^process_resident_memory_bytes(?:{.*})? (\S+)$/m.exec(exposition)?.[1]
  expect(Number(resident)).toBeGreaterThan(48 * 2 ** 20)
  await kubectlHere('rollout', 'undo', 'deployment/depot-server')
  await kubectlHere('rollout', 'status', 'deployment/depot-server', '--timeout=90s')
  await until(
    () => podsIn('server'),
    (pods) => pods.length === 2,
  )
})

it('the API server unreachable: answers continue, and changes appear once it returns', async () => {
  const [address = ''] = await addressesOf('server')
  await withoutApiServer(async () => {
    const load = startLoad()
    await until(
      () => silenceOf(address),
      (seconds) => seconds > 5,
    )
    await until(
      async () => load.answered(),
      (answered) => answered > 50,
    )
    const { answered, failed } = await load.stop()
    expect(failed).toEqual([])
    expect(answered).toBeGreaterThan(50)
    expect(await download(network, '2.0.0')).toBe(200)
  })
  expect(await restartsOf('server')).toBe(0)
  await kubectl('-n', 'platform', 'delete', 'versions.depot.internal', 'network-1.1.0')
  await until(
    () => versionsOf(network),
    (versions) => JSON.stringify(versions) === '["2.0.0","1.0.0"]',
  )
  await applySamples()
})
