import { createPrivateKey } from 'node:crypto'
import * as z from 'zod'
import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import { jsonOf, RegistryError } from '../../base/errors/errors.ts'
import { createPool, discard, type Pool, readBounded } from '../../base/http/http.ts'
import type { ClusterCredentials } from './caller-kubeconfig.ts'
import { Refusal } from './refusal.ts'

/** Address and certificate of the server's own API server, without credentials. */
export interface ClusterAddress {
  /** Without a trailing slash; it may have a path. */
  readonly server: string
  /** PEM. */
  readonly ca: string | undefined
  readonly servername?: string | undefined
  readonly rejectUnauthorized?: boolean | undefined
  /** http or https. */
  readonly proxyUrl?: string | undefined
}

/** An answer of the API server. */
export interface ClusterAnswer {
  readonly status: number
  /** Its message if it refused. */
  readonly message: string
  /** Answer of a review: whether the cluster allows it. */
  readonly isAllowed?: boolean
  /** Answer to the question who the caller is: its name. */
  readonly user?: string | undefined
}

/** An action that the cluster is asked about, without doing it. */
export interface ReviewedAction {
  readonly namespace: string
  readonly verb: string
  readonly group: string
  readonly resource: string
}

/** A path to read, an action that the cluster reviews, or the question who the caller is. */
export type ClusterQuestion = string | ReviewedAction | typeof whoAmI

export const whoAmI = Symbol('who am I')

/** From sending a request to the end of its answer. */
const timeoutMs = 5000
const bounds = {
  connections: 128,
  connectMs: timeoutMs,
  headersMs: timeoutMs,
  idleMs: timeoutMs,
  totalMs: timeoutMs,
  // Requests that wait for a slow API server must not fail before they are sent.
  waiting: { max: 1000, ms: 15_000 },
}
const maxStatusBytes = 64 * 1024
/** The content does not matter, so the shortest form is requested. Objects and lists have different forms. */
const acceptOf = (path: string): string => {
  const kind = path.includes('?limit=') ? 'PartialObjectMetadataList' : 'PartialObjectMetadata'
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`
}

/** Sends requests with the credentials of callers, never with those of the server, over separate connections. */
export class CallerReads {
  readonly #address: () => Promise<ClusterAddress>
  readonly #pool: Pool

  /** @param connections limit of concurrent requests. Default 128 */
  constructor(address: () => Promise<ClusterAddress>, connections = bounds.connections) {
    this.#address = address
    this.#pool = createPool({ ...bounds, connections })
  }

  /**
   * Requests a path, or a review of who the caller is or what it may do.
   *
   * @throws Refusal ClusterUnavailable if the API server is unreachable, Busy if too many wait, KubeconfigRefused if a
   *   certificate is unusable
   */
  async read(credentials: ClusterCredentials, asked: ClusterQuestion): Promise<ClusterAnswer> {
    const address = await this.#address()
    const { cert, key } = credentials
    if (cert === undefined || key === undefined) {
      return send(this.#pool, address, credentials, asked)
    }
    checkKey(key)
    // A connection belongs to the caller whose certificate opened it, so it is closed after the request.
    const pool = createPool(bounds)
    try {
      return await send(pool, address, credentials, asked)
    } finally {
      await pool.close()
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

const maxRsaBits = 4096

/** The main thread signs the handshake, which takes a second with a key of four times that length. */
function checkKey(key: string): void {
  try {
    const bits = createPrivateKey(key).asymmetricKeyDetails?.modulusLength
    if (bits && bits > maxRsaBits) throw new TypeError('the key is too long')
  } catch {
    throw unusable()
  }
}

/** Messages of OpenSSL may quote the key. */
function unusable(): Refusal {
  return new Refusal(
    'KubeconfigRefused',
    'the kubeconfig is refused: its client certificate and key cannot be read, or do not belong together',
  )
}

async function send(
  pool: Pool,
  { server, ca, servername, rejectUnauthorized, proxyUrl }: ClusterAddress,
  { cert, key, token }: ClusterCredentials,
  asked: ClusterQuestion,
): Promise<ClusterAnswer> {
  const review = typeof asked === 'string' ? undefined : reviewOf(asked)
  const path = review?.path ?? (asked as string)
  const { origin, pathname } = new URL(server)
  const own = cert !== undefined && key !== undefined && { cert, key }
  const trust = { ...(ca !== undefined && { ca }), ...own, servername, rejectUnauthorized }
  try {
    const { status, body } = await pool.send(
      { origin, trust, proxyUrl },
      {
        method: 'GET',
        path: `${pathname === '/' ? '' : pathname}${path}`,
        ...(review && { method: 'POST', body: review.body }),
        headers: {
          accept: review ? 'application/json' : acceptOf(path),
          'user-agent': 'depot',
          ...(review && { 'content-type': 'application/json' }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
      },
    )
    if (status >= 400)
      return { status, message: messageIn(await readBounded(body, maxStatusBytes)) }
    if (review) {
      const answer = Reviewed.safeParse(
        jsonOf((await readBounded(body, maxStatusBytes)).toString()),
      )
      const { allowed, userInfo } = answer.data?.status ?? {}
      return { status, message: '', isAllowed: allowed === true, user: userInfo?.username }
    }
    // Read to its end, so that the connection can be reused, unless it is long.
    await readBounded(body, maxStatusBytes).catch(() => discard(body))
    return { status, message: '' }
  } catch (cause) {
    throw failure(cause)
  }
}

function failure(cause: unknown): Refusal {
  if (cause instanceof RegistryError && cause.reason === 'Unavailable') {
    return new Refusal('Busy', 'too many callers wait for the cluster: try again in a moment', {
      cause,
    })
  }
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (/^ERR_OSSL|^ERR_SSL_.*KEY|KEY_VALUES_MISMATCH/.test(code)) return unusable()
  return unreachable(cause)
}

/** The refusal when the cluster has to decide but is unreachable. */
export function unreachable(cause: unknown): Refusal {
  return new Refusal(
    'ClusterUnavailable',
    'the cluster that has to decide about this cannot be reached: try again in a moment',
    { cause },
  )
}

const Reviewed = z.object({
  status: z.object({
    allowed: z.boolean().optional(),
    userInfo: z.object({ username: z.string() }).optional(),
  }),
})

function reviewOf(asked: ReviewedAction | typeof whoAmI): { path: string; body: string } {
  const [group, kind, spec] =
    asked === whoAmI
      ? ['authentication.k8s.io', 'SelfSubjectReview', {}]
      : ['authorization.k8s.io', 'SelfSubjectAccessReview', { spec: { resourceAttributes: asked } }]
  return {
    path: `/apis/${group}/v1/${kind.toLowerCase()}s`,
    body: JSON.stringify({ apiVersion: `${group}/v1`, kind, ...spec }),
  }
}

/** The message of a metav1.Status. */
function messageIn(bytes: Buffer): string {
  const status = jsonOf(bytes.toString())
  const message = isRecord(status) && status['message']
  return typeof message === 'string' ? message.slice(0, 1000) : ''
}
