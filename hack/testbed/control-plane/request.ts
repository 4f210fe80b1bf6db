import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'

/** The number of attempts after 429, and the time between them. */
const busyAttempts = 60
const busyPauseMs = 500

export interface ApiResponse {
  readonly status: number
  readonly body: unknown
}

/** Requests to an API server by one identity. */
export interface ApiClient {
  /**
   * Asks again while the API server is too busy, as one is that has just started.
   *
   * @throws Error for a status of 400 and above
   */
  request(method: string, path: string, body?: unknown, contentType?: string): Promise<unknown>
  /** The same, without the throw. */
  send(method: string, path: string, body?: unknown, contentType?: string): Promise<ApiResponse>
  /** Server-side apply: creates the object, or changes what differs. */
  apply(path: string, object: object, fieldManager?: string): Promise<unknown>
  close(): Promise<void>
}

export function createApiClient(options: {
  readonly url: string
  readonly ca: string
  readonly token?: string
  readonly cert?: string
  readonly key?: string
}): ApiClient {
  const { url, ca, token, cert, key } = options
  const agent = new Agent({
    allowH2: false,
    connections: 32,
    connect: { ca, ...(cert && { cert }), ...(key && { key }) },
  })

  async function send(
    method: string,
    path: string,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<ApiResponse> {
    const { origin } = new URL(url)
    const response = await agent.request({
      origin,
      method,
      path,
      headers: {
        accept: 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': contentType }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.body.text()
    return { status: response.statusCode, body: asJson(text) }
  }

  async function request(...args: Parameters<typeof send>): Promise<unknown> {
    let { status, body } = await send(...args)
    for (let attempts = 1; status === 429 && attempts < busyAttempts; attempts += 1) {
      await sleep(busyPauseMs)
      ;({ status, body } = await send(...args))
    }
    if (status < 400) return body
    const message = (body as { message?: string }).message ?? JSON.stringify(body)
    throw new Error(`${args[0]} ${args[1]}: ${status} ${message}`)
  }

  return {
    send,
    request,
    apply: (path, object, fieldManager = 'depot-test') =>
      request(
        'PATCH',
        `${path}?fieldManager=${fieldManager}&force=true`,
        object,
        'application/apply-patch+yaml',
      ),
    close: () => agent.destroy(),
  }
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
