import type { Readable } from 'node:stream'
import { createPool, discard, type ProxyRules } from '../../../base/http/http.ts'
import { withDeadline } from '../../../base/pacing/pacing.ts'
import { noAnswer } from '../../spool/spool.ts'
import type { StoreRequest } from './remote-store.ts'

export interface RemoteTimings {
  /** Deadline of a connection, TLS included. */
  readonly connectMs: number
  /** Deadline of the head of an answer. */
  readonly firstByteMs: number
  /** Limit of a pause of the store while a reader waits. */
  readonly idleMs: number
  /** Deadline for a token, a signature or the loading of an SDK. */
  readonly credentialsMs: number
  /** The first pause before a retry. It doubles each time, and half of it is random. */
  readonly backoffMs: number
}

export const defaultTimings: RemoteTimings = {
  connectMs: 5000,
  firstByteMs: 15_000,
  idleMs: 30_000,
  credentialsMs: 15_000,
  backoffMs: 100,
}

/** Concurrent connections to one host. Each download uses one. */
const maxConnections = 512

export interface StoreAnswer {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly body: Readable
}

export interface UploadBody {
  readonly body: Readable
  readonly signal: AbortSignal | undefined
  /** Deadline of the head of the answer, the upload included. */
  readonly inAllMs: number
}

/** Sends requests to stores over kept connections, follows no redirects and decodes nothing. */
export interface StoreTransport {
  send(
    method: 'GET' | 'HEAD' | 'DELETE' | 'PUT' | 'POST',
    request: StoreRequest,
    headers: Record<string, string>,
    upload?: UploadBody,
  ): Promise<StoreAnswer>
}

export function createTransport(
  { connectMs, firstByteMs, idleMs }: RemoteTimings,
  proxies?: ProxyRules,
): StoreTransport {
  const pool = createPool({
    connections: maxConnections,
    connectMs,
    headersMs: firstByteMs,
    idleMs,
    keepAliveMs: 30_000,
    proxies,
  })
  // A request that waits for a free connection has no other deadline.
  const inAllMs = connectMs + 2 * firstByteMs

  return {
    send(method, { url, headers: own }, headers, upload) {
      const { origin, pathname, search } = new URL(url)
      const answer = pool.send(
        { origin },
        {
          method,
          path: pathname + search,
          headers: { 'accept-encoding': 'identity', ...own, ...headers },
          // One chunk at a time, because several waiting chunks would be copied into one.
          highWaterMark: 1,
          ...(upload && { body: upload.body, signal: upload.signal }),
        },
      )
      const deadlineMs = upload?.inAllMs ?? inAllMs
      return withDeadline(answer, deadlineMs, noAnswer, ({ body }) => discard(body))
    },
  }
}
