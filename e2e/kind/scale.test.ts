import { beforeAll, expect, it } from 'vitest'
import { json, kubectlHere, namespace, until } from './cluster.fixture.ts'
import {
  countOf,
  download,
  getFrom,
  install,
  makeNamespace,
  podsOf,
  prepare,
  settledCount,
} from './release.fixture.ts'

/* Three replicas show the same counts. */

const server = { anonymousAuth: true, replicaCount: 3, stats: { refreshInterval: '1s' } }

beforeAll(async () => {
  await makeNamespace()
  await install({ server })
  await prepare()
})

it('every replica shows the same counts, no matter which one served the downloads', async () => {
  const pods = await podsOf('server')
  expect(pods).toHaveLength(3)
  const before = await settledCount('network', '2.0.0')
  for (let count = 0; count < 30; count += 1)
    expect(await download('platform/network/aws', '2.0.0')).toBe(200)
  for (const pod of pods) {
    await until(
      () => countOf(pod, 'network', '2.0.0'),
      (seen) => seen === before + 30,
    )
  }
})

it('a pod becomes ready only after it has read all records', async () => {
  const [pod = ''] = await podsOf('server')
  await kubectlHere('delete', 'pod', pod, '--wait=false')
  const replaced = await until(
    () => podsOf('server'),
    (pods) => pods.length === 3 && !pods.includes(pod),
  )
  for (const one of replaced) {
    await kubectlHere('wait', '--for=condition=Ready', `pod/${one}`, '--timeout=60s')
    expect(await getFrom(one, '/depot/modules/v1/platform/network/aws/versions')).toContain('2.0.0')
  }
})

it('an autoscaler may set the number of replicas', async () => {
  await install({ server: { ...server, autoscaling: { enabled: true, minReplicas: 3 } } })
  const { items } = await json<{ items: { spec: { minReplicas: number } }[] }>(
    '-n',
    namespace,
    'get',
    'hpa',
  )
  expect(items.map(({ spec }) => spec.minReplicas)).toEqual([3])
  const pods = await until(
    () => podsOf('server'),
    (found) => found.length === 3,
  )
  expect(pods).toHaveLength(3)
})
