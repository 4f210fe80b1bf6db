import { kind, must, podsIn, read, until } from './cluster.fixture.ts'
import { sumOf } from './release.fixture.ts'

/* Stops and starts the API server, and reads the metrics of pods meanwhile. */

const manifest = '/etc/kubernetes/manifests/kube-apiserver.yaml'
const aside = '/root/kube-apiserver.yaml'
const inNode = (...command: string[]): Promise<string> =>
  must('docker', ['exec', kind.node, ...command])
const isUp = (): Promise<boolean> =>
  read('/readyz').then(
    () => true,
    () => false,
  )

/** Runs a function while the cluster has no API server. */
export async function withoutApiServer<T>(work: () => Promise<T>): Promise<T> {
  await inNode('mv', manifest, aside)
  try {
    await until(isUp, (up) => !up)
    return await work()
  } finally {
    await inNode('mv', aside, manifest)
    await until(isUp, (up) => up, 120_000)
  }
}

/** Addresses of the pods of a component, for the time without an API server. */
export const addressesOf = async (component: string): Promise<string[]> =>
  (await podsIn(component)).flatMap(({ status }) => status.podIP ?? [])

/** The metrics of a pod, read from its node's network. */
export const metricsAt = (address: string): Promise<string> =>
  inNode('curl', '-sS', '--max-time', '10', `http://${address}:9090/metrics`)

const kinds = ['Module', 'Provider', 'Version', 'Depot']

/** Seconds since a pod received its last event of any kind. */
export async function silenceOf(address: string): Promise<number> {
  const text = await metricsAt(address)
  const name = 'watch_last_contact_timestamp_seconds'
  return Date.now() / 1000 - Math.max(...kinds.map((one) => sumOf(text, name, `kind="${one}"`)))
}

export const restartsOf = async (component: string): Promise<number> =>
  (await podsIn(component))
    .flatMap(({ status }) => status.containerStatuses ?? [])
    .reduce((sum, { restartCount }) => sum + restartCount, 0)
