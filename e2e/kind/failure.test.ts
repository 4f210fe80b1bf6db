import { beforeAll, expect, it } from 'vitest'
import { kind, kubectl, kubectlHere, must, namespace, run, until } from './cluster.fixture.ts'
import {
  applySamples,
  countOf,
  download,
  install,
  makeNamespace,
  podsOf,
  prepare,
  startLoad,
  versionsOf,
} from './release.fixture.ts'

/* Each part taken away in turn, while the registry is in use. */

const network = 'platform/network/aws'

beforeAll(async () => {
  await makeNamespace()
  await install({
    server: {
      anonymousAuth: true,
      replicaCount: 2,
      stats: { refreshInterval: '1s' },
      podDisruptionBudget: { enabled: true },
    },
  })
  await prepare()
})

it('a pod that is killed takes no other with it, and is replaced', async () => {
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

it('Valkey away: downloads go on, and afterwards every one of them is counted', async () => {
  const [pod = ''] = await podsOf('server')
  const before = await countOf(pod, 'network', '1.0.0')
  await kubectlHere('scale', 'statefulset/depot-valkey', '--replicas=0')
  await until(
    () => podsOf('valkey'),
    (pods) => pods.length === 0,
  )
  for (let count = 0; count < 20; count += 1) expect(await download(network, '1.0.0')).toBe(200)
  await kubectlHere('scale', 'statefulset/depot-valkey', '--replicas=1')
  for (const one of await podsOf('server')) {
    await until(
      () => countOf(one, 'network', '1.0.0'),
      (seen) => seen === before + 20,
    )
  }
})

it('the API server away: answers go on, and changes show once it is back', async () => {
  const manifest = '/etc/kubernetes/manifests/kube-apiserver.yaml'
  const inNode = (...command: string[]) => must('docker', ['exec', kind.node, ...command])
  const isUp = async () => (await run('kubectl', ['get', '--raw', '/readyz'])).code === 0
  await inNode('mv', manifest, '/root/kube-apiserver.yaml')
  try {
    await until(isUp, (up) => !up)
    const load = startLoad()
    await new Promise((done) => setTimeout(done, 10_000))
    const { answered, failed } = await load.stop()
    expect(failed).toEqual([])
    expect(answered).toBeGreaterThan(100)
    expect(await download(network, '2.0.0')).toBe(200)
  } finally {
    await inNode('mv', '/root/kube-apiserver.yaml', manifest)
  }
  await until(isUp, (up) => up)
  const restarts = [
    'get',
    'pods',
    '-o',
    'jsonpath={.items[*].status.containerStatuses[*].restartCount}',
  ]
  const selector = '-lapp.kubernetes.io/component=server'
  expect(await kubectl('-n', namespace, ...restarts, selector)).toMatch(/^[0 ]+$/)
  await kubectl('-n', 'platform', 'delete', 'versions.depot.internal', 'network-1.1.0')
  await until(
    () => versionsOf(network),
    (versions) => JSON.stringify(versions) === '["2.0.0","1.0.0"]',
  )
  await applySamples()
})
