import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import type { Connection } from '../../pkg/records/kube/kube.ts'

export interface Api {
  /** @throws ApiError for a status of 400 and above */
  request(method: string, path: string, body?: object, contentType?: string): Promise<unknown>
  /** Every item of a list, page by page. */
  list(path: string): Promise<unknown[]>
  close(): Promise<void>
}

/** An error answer of the API server. */
export class ApiError extends Error {
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

const attempts = 6
const pageSize = 500

/** Requests to an API server. A request is sent again if the server is busy or briefly unreachable. */
export function createApi(connection: Connection): Api {
  let agent: Agent | undefined

  async function once(method: string, path: string, body?: object, contentType?: string) {
    const { server, headers, tls } = await connection.credentials()
    agent ??= new Agent({ connections: 16, connect: { ...tls, allowH2: false } })
    const { origin, pathname } = new URL(server)
    const reply = await agent.request({
      method,
      origin,
      path: `${pathname.replace(/\/$/, '')}${path}`,
      headers: {
        ...headers,
        accept: 'application/json',
        'user-agent': 'depot-backup',
        ...(body && { 'content-type': contentType ?? 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await reply.body.text()
    const after = Number(reply.headers['retry-after'] ?? 0)
    return { status: reply.statusCode, text, waitMs: after * 1000 }
  }

  async function request(...args: Parameters<Api['request']>): Promise<unknown> {
    const [method, path] = args
    for (let attempt = 1; ; attempt += 1) {
      const { status, text, waitMs } = await once(...args)
      if (status < 400) return JSON.parse(text)
      const isBusy = status === 429 || (status > 500 && status < 505)
      if (!isBusy || attempt === attempts) {
        throw new ApiError(`${method} ${path}: ${status} ${messageIn(text)}`, status)
      }
      await sleep(waitMs || 200 * 2 ** attempt)
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
    close: () => agent?.close() ?? Promise.resolve(),
  }
}

/** The message of a Kubernetes Status, or the start of any other answer. */
function messageIn(text: string): string {
  try {
    const status: unknown = JSON.parse(text)
    if (status instanceof Object && 'message' in status) return String(status.message)
  } catch {
    // Not JSON: a proxy has answered.
  }
  return text.slice(0, 200)
}
