import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { sampleStatus } from '../../hack/testbed/control-plane/sample-status.ts'
import {
  apply,
  json,
  kind,
  kubectl,
  kubectlHere,
  must,
  namespace,
  type Outcome,
  type Pod,
  podsIn,
  read,
  restricted,
  run,
  until,
} from './cluster.fixture.ts'

/* The release that the tests install as a user would, with Helm, values and kubectl. */

const repository = join(import.meta.dirname, '../..')
const chart = join(repository, 'config/chart')

export const release = 'depot'

/** The address of the registry from outside of the cluster. */
export const url = `http://127.0.0.1:${kind.ports[0]}`

export type Values = Readonly<Record<string, unknown>>

const isMap = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The second values take precedence, map by map. */
function merged(base: Values, over: Values): Values {
  const keys = new Set([...Object.keys(base), ...Object.keys(over)])
  return Object.fromEntries(
    [...keys].map((key) => {
      const [a, b] = [base[key], over[key]]
      return [key, isMap(a) && isMap(b) ? merged(a, b) : key in over ? b : a]
    }),
  )
}

/** Images that the nodes already have. */
export const images: Values = {
  global: {
    imagePullPolicy: 'Never',
    image: { registry: 'docker.io', repository: 'depot/depot', tag: 'e2e' },
  },
  valkey: { image: { repository: 'docker.io/valkey/valkey', tag: 'e2e' } },
  broker: { image: { repository: 'docker.io/dexidp/dex', tag: 'e2e' } },
}

/** Most suites send no requests to pods that end, and need not wait for those of Services. */
const lifecycle = { preStop: { sleep: { seconds: 1 } } }

/** For the server of suites that do: what the chart does itself. */
export const ownEnd: Values = { lifecycle: undefined }

/** Notices a second earlier that a pod has started, and waits as long for it as the chart does. */
const probes = { startup: { periodSeconds: 1, failureThreshold: 60 } }

/** The values of every release of the suite: these images, a port, and archives on a claim. */
const base: Values = {
  ...images,
  server: { service: { type: 'NodePort', nodePort: 30_000 }, lifecycle, probes },
  ui: { lifecycle, probes },
  storage: { filesystem: { enabled: true, accessMode: 'ReadWriteOnce', singleNode: true } },
  // Most suites write the statuses of the samples themselves, and the controller would change them.
  controller: { enabled: false, probes },
}

export interface InstallOptions {
  readonly helm?: string
  readonly wait?: boolean
  /** Uses the chart's own defaults, not those of the suite. */
  readonly plain?: boolean
  /** Lets Helm compare the objects with the schemas of the API server, as it does by default. */
  readonly validate?: boolean
}

/** `helm upgrade --install`, whatever its exit code is. */
export function upgrade(values: Values, options: InstallOptions = {}): Promise<Outcome> {
  const { helm = kind.tools.helm, wait = true, plain = false, validate = plain } = options
  const flags = ['-n', namespace, '-f', '-', ...(wait ? ['--wait', '--timeout', '150s'] : [])]
  // It takes a third of Helm's time. The tests of the chart compare all objects with these schemas.
  if (!validate) flags.push('--disable-openapi-validation')
  return run(
    helm,
    ['upgrade', '--install', release, chart, ...flags],
    JSON.stringify(plain ? values : merged(base, values)),
  )
}

/** Installs or changes the release. @returns Helm's warnings */
export async function install(values: Values, options?: InstallOptions): Promise<string> {
  const { code, stdout, stderr } = await upgrade(values, options)
  if (code !== 0) throw new Error(`helm ended with ${code}: ${stderr}${stdout}\n${await story()}`)
  await until(leavingPods, (pods) => pods.length === 0)
  return stderr
}

/** Replaced pods serve their open connections for a few more seconds. */
const leavingPods = async (): Promise<Pod[]> =>
  (await podsIn()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)

/** Events and logs of pods that did not become ready. */
async function story(): Promise<string> {
  const here = ['-n', namespace]
  const pods = `-lapp.kubernetes.io/instance=${release}`
  const outcomes = await Promise.all([
    run('kubectl', [...here, 'get', 'pods']),
    run('kubectl', [...here, 'get', 'events', '--sort-by=.lastTimestamp']),
    run('kubectl', [...here, 'logs', '--tail=2', '--prefix', pods]),
  ])
  return outcomes.map(({ stdout }) => stdout.split('\n').slice(-8).join('\n')).join('\n')
}

export async function uninstall(helm = kind.tools.helm): Promise<void> {
  await must(helm, ['uninstall', release, '-n', namespace, '--ignore-not-found', '--wait'])
}

/** The namespace of the release, as strict as Pod Security can be. */
export async function makeNamespace(name = namespace): Promise<void> {
  const level = Object.fromEntries(
    ['enforce', 'warn', 'audit'].map((mode) => [
      `pod-security.kubernetes.io/${mode}`,
      'restricted',
    ]),
  )
  await apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: level } }])
}

/** Applies config/samples with the statuses that a controller would have written. Needs the definitions. */
export async function applySamples(): Promise<void> {
  const samples = join(repository, 'config/samples')
  await kubectl('apply', '--server-side', '-f', join(samples, 'namespaces.yaml'))
  await kubectl('apply', '--server-side', '-f', samples)
  const statuses = sampleStatus(kind.archives)
  await apply(statuses.filter((object) => object.kind === 'ConfigMap'))
  await apply(
    statuses.filter((object) => object.kind !== 'ConfigMap'),
    { status: true },
  )
}

/**
 * Deletes every record. A controller leaves finalizers on its objects, so call this before it starts and before it ends. A kind
 * without a definition has no records.
 */
export async function deleteRecords(): Promise<void> {
  const kinds = ['depots', 'modules', 'providers', 'versions'].map((one) => `${one}.depot.internal`)
  for (const one of kinds) await run('kubectl', ['delete', one, '--all', '-A', '--timeout=60s'])
}

/** Copies what is in a folder to the claim of the release, into the folder that its node has for it. */
export async function store(folder: string): Promise<void> {
  const claim = await json<Claim>('-n', namespace, 'get', 'pvc', `${release}-modules`)
  const { spec } = await json<Volume>('get', 'pv', claim.spec.volumeName)
  const node = spec.nodeAffinity.required.nodeSelectorTerms[0]?.matchExpressions[0]?.values[0]
  const place = spec.hostPath?.path ?? spec.local?.path
  const names = readdirSync(folder).map((name) => `'${name}'`)
  // The user that the pods run as.
  const owner = '--owner=65532 --group=65532'
  const packed = `tar -C '${folder}' ${owner} -c ${names.join(' ')}`
  await must('sh', ['-c', `${packed} | docker exec -i ${node} tar -x -C '${place}' -f -`])
}

interface Claim {
  readonly spec: { readonly volumeName: string }
}

interface Volume {
  readonly spec: {
    readonly hostPath?: { readonly path: string }
    readonly local?: { readonly path: string }
    readonly nodeAffinity: {
      readonly required: {
        readonly nodeSelectorTerms: readonly {
          readonly matchExpressions: readonly { readonly values: readonly string[] }[]
        }[]
      }
    }
  }
}

/** Copies the archives of the samples to the claim of the release. */
export const fillClaim = (): Promise<void> => store(kind.archives)

interface ShellOptions {
  readonly command?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** A pod with a shell, Terraform and an S3 server, that passes the restricted level. */
export async function startShell(
  name: string,
  { command = ['sleep', '86400'], env = {} }: ShellOptions = {},
): Promise<void> {
  await apply([
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels: { app: name } },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        securityContext: restricted.pod,
        containers: [
          {
            name: 'shell',
            image: 'docker.io/depot/e2e-tools:e2e',
            imagePullPolicy: 'Never',
            command,
            env: Object.entries({ HOME: '/data', ...env }).map(([key, value]) => ({
              name: key,
              value,
            })),
            securityContext: restricted.container,
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
        volumes: [{ name: 'data', emptyDir: {} }],
      },
    },
  ])
  await kubectl('-n', namespace, 'wait', '--for=condition=Ready', `pod/${name}`, '--timeout=120s')
}

/** A token of a service account. */
export const tokenOf = (account: string): Promise<string> =>
  kubectl('-n', namespace, 'create', 'token', account)

/** Names of the pods of a component that are not terminating. */
export const podsOf = async (component: string): Promise<string[]> =>
  (await podsIn(component))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name)

/** Stops all pods of a component. @param workload such as `deployment/depot-broker` */
export async function stopAll(workload: string, component: string): Promise<void> {
  await kubectlHere('scale', workload, '--replicas=0')
  await until(
    () => podsOf(component),
    (pods) => pods.length === 0,
  )
  // Terminating pods still answer for a while.
  await until(leavingPods, (pods) => pods.length === 0)
}

/** The versions of a module as the registry lists them, newest first; the HTTP status if it lists none. */
export async function versionsOf(module: string, token?: string): Promise<string[] | number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const { status, text } = await get(`${url}/depot/modules/v1/${module}/versions`, headers)
  if (status !== 200) return status
  const { modules } = JSON.parse(text) as {
    modules: { versions: { version: string }[] }[]
  }
  return modules.flatMap(({ versions }) => versions.map(({ version }) => version))
}

/** Waits until the samples are served. */
export async function untilServed(token?: string): Promise<void> {
  await until(
    () => versionsOf('platform/network/aws', token),
    (versions) => typeof versions !== 'number' && versions.length === 3,
  )
}

/** Applies the samples, stores their archives, and waits until both are served. */
export async function prepare(token?: string): Promise<void> {
  await applySamples()
  await fillClaim()
  await untilServed(token)
}

/** Downloads the archive of a module's version as the CLIs do, over a new connection. @returns the HTTP status */
export async function download(module: string, version: string): Promise<number> {
  const found = await get(`${url}/depot/modules/v1/${module}/${version}/download`)
  const location = found.headers['x-terraform-get']
  if (typeof location !== 'string') return found.status
  return (await get(new URL(location, url).href)).status
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
  readonly text: string
}

/** Sends one request over a new connection. @throws Error if the connection fails */
export async function get(
  address: string,
  headers: Readonly<Record<string, string>> = {},
  timeoutMs = 20_000,
): Promise<Answer> {
  const connect = { timeout: Math.min(timeoutMs, 10_000) }
  const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
  const dispatcher = new Agent({ allowH2: false, connect, ...limits })
  try {
    const answer = await request(address, { dispatcher, headers })
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    return { status: answer.statusCode, headers: answer.headers, bytes, text: String(bytes) }
  } finally {
    await dispatcher.destroy()
  }
}

/** Asks one pod directly, without the Service. */
export const getFrom = (pod: string, path: string, port = 8080): Promise<string> =>
  read(`/api/v1/namespaces/${namespace}/pods/${pod}:${port}/proxy${path}`)

/** The download count of a version, as one pod sees it. */
export async function countOf(pod: string, name: string, version: string): Promise<number> {
  const { mostDownloaded } = JSON.parse(await getFrom(pod, '/depot/ui/v1/stats')) as {
    mostDownloaded: { name: string; version: string; downloadCount: number }[]
  }
  const found = mostDownloaded.find((one) => one.name === name && one.version === version)
  return found?.downloadCount ?? 0
}

/**
 * The download count of a version, once every server has read it. A server that has just started answers before it has read the
 * counts from Valkey, and reports 0 until then.
 */
export async function settledCount(name: string, version: string): Promise<number> {
  const pods = await podsOf('server')
  const seen = await until(
    async () => {
      const up = await Promise.all(pods.map((pod) => metricOf(pod, 'download_store_up')))
      const counts = await Promise.all(pods.map((pod) => countOf(pod, name, version)))
      return { up, counts }
    },
    ({ up, counts }) => up.every((one) => one === 1) && new Set(counts).size === 1,
  )
  return seen.counts[0] ?? 0
}

/** Adds up the series of a metric in one pod whose labels contain this text. */
export async function metricOf(pod: string, name: string, labels = ''): Promise<number> {
  return sumOf(await getFrom(pod, '/metrics', 9090), name, labels)
}

/** @throws Error if there is no such series */
export function sumOf(exposition: string, name: string, labels = ''): number {
  const series = exposition
    .split('\n')
    .filter((line) => new RegExp(`^depot_${name}[ {]`).test(line) && line.includes(labels))
  if (series.length === 0) throw new Error(`no series depot_${name} with ${labels}`)
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

interface LoadOptions {
  readonly loops?: number
  readonly timeoutMs?: number
}

interface LoadResult {
  readonly answered: number
  readonly failed: readonly string[]
  /** The time of each failure, in milliseconds. */
  readonly failedAt: readonly number[]
}

/** Loops of requests, each over a new connection, until they are stopped. */
export function startLoad({ loops = 2, timeoutMs }: LoadOptions = {}): {
  answered(): number
  /** Number of answers since the last failure. */
  answeredInRow(): number
  stop(): Promise<LoadResult>
} {
  const stopping = new AbortController()
  let [answered, inRow] = [0, 0]
  const failed: string[] = []
  const failedAt: number[] = []
  const fail = (what: string): void => {
    inRow = 0
    failed.push(what)
    failedAt.push(Date.now())
  }
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const address = `${url}/depot/modules/v1/platform/network/aws/versions`
        const { status } = await get(address, {}, timeoutMs)
        if (status === 200) {
          answered += 1
          inRow += 1
        } else fail(`HTTP ${status}`)
      } catch (err) {
        fail(String(err))
      }
      await new Promise((done) => setTimeout(done, 20))
    }
  }
  const running = Array.from({ length: loops }, loop)
  return {
    answered: () => answered,
    answeredInRow: () => inRow,
    async stop() {
      stopping.abort()
      await Promise.all(running)
      return { answered, failed, failedAt }
    },
  }
}
