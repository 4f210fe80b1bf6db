import { setTimeout as sleep } from 'node:timers/promises'
import { readBounded } from '../../base/http/http.ts'
import type { Connection } from './connection.ts'
import { apiErrorOf, Outcome } from './outcome.ts'
import { defaultTimings } from './timings.ts'
import { Transport, type Write } from './transport.ts'

/** Requests to an API server by path, for commands that read every kind. */
export interface Api {
  /** @param contentType of the body. Default: JSON. @throws ApiError */
  request(
    method: 'GET' | Write['method'],
    path: string,
    body?: object,
    contentType?: string,
  ): Promise<unknown>
  /** Iterates over the items of a list, page by page. @throws ApiError */
  list(path: string): Promise<unknown[]>
  close(): Promise<void>
}

const attempts = 6
const pageSize = 500
/** 500 objects of the largest size that etcd allows. */
const maxAnswerBytes = 500 * 1.5 * 1024 * 1024

/** Reads nothing yet. Requests are sent again if the server is busy. */
export function createApi(connection: Connection): Api {
  const transport = new Transport(connection, defaultTimings)
  const { pageMs: deadlineMs, headersMs: idleMs } = defaultTimings
  const { signal } = new AbortController()

  async function request(...args: Parameters<Api['request']>): Promise<unknown> {
    const [method, path, body, contentType = 'application/json'] = args
    const write = method === 'GET' ? undefined : { method, contentType, body: JSON.stringify(body) }
    for (let attempt = 1; ; attempt += 1) {
      const answer = await transport.read(
        { path, signal, deadlineMs, idleMs, write },
        async (bytes) => JSON.parse(String(await readBounded(bytes, maxAnswerBytes))) as unknown,
      )
      if (!(answer instanceof Outcome)) return answer
      const { reason, code = 0, retryAfterMs } = answer
      if (reason === 'Unauthenticated') transport.reload()
      const mayPass = ['RateLimited', 'Unauthenticated'].includes(reason) || code > 500
      if (!mayPass || attempt === attempts) throw apiErrorOf(answer, `${method} ${path}`)
      await sleep(retryAfterMs || 200 * 2 ** attempt)
    }
  }

  return {
    request,
    async list(path) {
      const items: unknown[] = []
      let token = ''
      do {
        const page = await request('GET', `${path}?limit=${pageSize}&continue=${token}`)
        const { items: some = [], metadata } = page as {
          items?: unknown[]
          metadata: { continue?: string }
        }
        for (const item of some) items.push(item)
        token = encodeURIComponent(metadata.continue ?? '')
      } while (token !== '')
      return items
    },
    close: () => transport.close(),
  }
}
