import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { inject } from 'vitest'

/* The cluster of the suite, used through its users' programs. */

export const kind = inject('kind')

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Limit of a program and of a request, below that of a test. */
const mostMs = 170_000

/** Runs a program against the cluster, and returns whatever its exit code is. */
export function run(
  program: string,
  args: readonly string[],
  input = '',
  timeoutMs = mostMs,
): Promise<Outcome> {
  const env = { ...process.env, KUBECONFIG: kind.kubeconfig, DOCKER_HOST: kind.dockerHost }
  return new Promise((done) => {
    const options = { env, timeout: timeoutMs, maxBuffer: 2 ** 28 }
    const child = execFile(program, args, options, (err, stdout, stderr) => {
      const code = err === null ? 0 : typeof err.code === 'number' ? err.code : -1
      done({ code, stdout, stderr })
    })
    // A program that ends before it has read its input prints why.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

/** @returns its output. @throws Error with its error output */
export async function must(
  program: string,
  args: readonly string[],
  input = '',
  timeoutMs?: number,
): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, input, timeoutMs)
  if (code !== 0)
    throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`)
  return stdout.trim()
}

export const kubectl = (...args: readonly string[]): Promise<string> => must('kubectl', args)

/** In the namespace of the release. */
export const kubectlHere = (...args: readonly string[]): Promise<string> =>
  kubectl('-n', namespace, ...args)

export const namespace = 'depot-system'

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

interface ApplyOptions {
  /** Applies the statuses. */
  readonly status?: boolean
  readonly manager?: string
  /** Takes over fields of other managers. */
  readonly force?: boolean
}

/** `kubectl apply --server-side` without its start, one object after another. */
export async function apply(
  objects: readonly object[],
  { status = false, manager = 'kubectl', force = status }: ApplyOptions = {},
): Promise<void> {
  // The schemas of the resources require fields that a status lacks.
  const query = `fieldManager=${manager}&force=${force}&fieldValidation=${status ? 'Ignore' : 'Strict'}`
  for (const object of objects) {
    const path = `${pathOf(object as Manifest)}${status ? '/status' : ''}`
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    await send(`${path}?${query}`, { method: 'PATCH', headers, body: JSON.stringify(object) })
  }
}

function pathOf({ apiVersion, kind: type, metadata }: Manifest): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const within = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`
  const plural = `${type.toLowerCase()}${type.endsWith('s') ? 'es' : 's'}`
  return `${group}${within}/${plural}/${metadata.name}`
}

/** Sends a request to the API. @throws Error with the answer of the API */
async function send(path: string, request?: RequestInit, retries = 30): Promise<string> {
  const signal = AbortSignal.timeout(mostMs)
  const answer = await fetch(`${kind.api}${path}`, { signal, ...request })
  const text = await answer.text()
  // The API server asks its clients to repeat a request while it starts and while a definition changes.
  if (answer.status === 429 && retries > 0 && !path.includes('/proxy/')) {
    await new Promise((done) => setTimeout(done, 1000))
    return send(path, request, retries - 1)
  }
  if (!answer.ok) throw new Error(`${path} is answered with ${answer.status}: ${text}`)
  return text
}

/** Reads a path of the API. */
export const read = (path: string): Promise<string> => send(path)

export async function json<T>(...args: readonly string[]): Promise<T> {
  return JSON.parse(await kubectl(...args, '-o', 'json')) as T
}

export interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
  readonly status: {
    readonly podIP?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly containerStatuses?: readonly {
      readonly restartCount: number
      readonly state: { readonly terminated?: Ending }
      readonly lastState: { readonly terminated?: Ending }
    }[]
  }
}

interface Ending {
  readonly reason: string
  readonly message?: string
}

/** The pods of the release, only of a component if it is named, with those that are terminating. */
export async function podsIn(component?: string): Promise<Pod[]> {
  const labels = ['app.kubernetes.io/instance=depot']
  if (component !== undefined) labels.push(`app.kubernetes.io/component=${component}`)
  const query = `labelSelector=${encodeURIComponent(labels.join(','))}`
  const { items } = JSON.parse(await read(`/api/v1/namespaces/${namespace}/pods?${query}`)) as {
    items: Pod[]
  }
  return items
}

export interface AuditEvent {
  readonly verb: string
  readonly requestURI: string
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string }
  readonly user: {
    readonly username: string
    /** For a service account: `authentication.kubernetes.io/pod-name`, among others. */
    readonly extra?: Readonly<Record<string, readonly string[]>>
  }
  readonly responseStatus?: { readonly code: number }
}

/**
 * The requests of a service account of the release so far, only of these pods if they are named. A pod of an earlier suite is
 * refused if its role is deleted before it ends.
 */
export function requestsOf(account: string, pods?: readonly string[]): AuditEvent[] {
  return readFileSync(kind.auditLog, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ user }) => user.username === `system:serviceaccount:${namespace}:${account}`)
    .filter(
      ({ user }) =>
        pods === undefined ||
        user.extra?.['authentication.kubernetes.io/pod-name']?.some((pod) => pods.includes(pod)),
    )
}

/**
 * Looks repeatedly until the result is accepted, by default for a minute. Each look may start kubectl, so it looks less often
 * the longer it waits, down to once a second.
 *
 * @throws Error with the last result
 */
export async function until<T>(
  look: () => Promise<T>,
  will: (seen: T) => boolean,
  limitMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + limitMs
  for (let restMs = 250; ; restMs = Math.min(restMs * 1.5, 1000)) {
    const seen = await look().catch((err: unknown) => err)
    if (!(seen instanceof Error) && will(seen as T)) return seen as T
    if (Date.now() > deadline)
      throw new Error(`no accepted result within ${limitMs} ms: ${JSON.stringify(seen)}`, {
        cause: seen,
      })
    await new Promise((done) => setTimeout(done, restMs))
  }
}

/** The fields that the restricted level of Pod Security requires of a pod and its containers. */
export const restricted = {
  pod: {
    runAsNonRoot: true,
    runAsUser: 65_532,
    fsGroup: 65_532,
    seccompProfile: { type: 'RuntimeDefault' },
  },
  container: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
}
