import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogger, createMetrics, type Metrics } from '../../base/telemetry/telemetry.ts'
import { type Broker, createBroker } from './broker.ts'

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

let server: Server
let broker: Broker
let metrics: Metrics
let seen: Seen[]
let answer: (response: ServerResponse, request: IncomingMessage) => void

beforeEach(async () => {
  seen = []
  answer = (response) => response.end('ok')
  server = createServer((request, response) => {
    const { method, url, headers } = request
    const read = async (): Promise<void> => {
      seen.push({ method, url, headers, body: String(await buffer(request)) })
      answer(response, request)
    }
    read().catch(() => response.destroy())
  })
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
  open()
})
afterEach(async () => {
  await broker.close()
  server.closeAllConnections()
  server.close()
})

function open(options: { trustProxy?: boolean; timeoutMs?: number; baseUrl?: string } = {}): void {
  metrics = createMetrics({ version: 'test' })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const log = createLogger('silent')
  broker = createBroker({ url, trustProxy: false, log, metrics, ...options })
}

const ask = async (path: string, init: RequestInit = {}, env: object = {}): Promise<Response> =>
  broker.routes.request(`http://depot.test${path}`, init, env)

it('never replaces the request id and the content policy of the server', async () => {
  answer = (response) => {
    response.writeHead(200, {
      'X-Request-Id': 'theirs',
      'X-Content-Type-Options': 'other',
      'X-A': 'b',
    })
    response.end()
  }
  const { headers } = await ask('/broker/x')
  expect([headers.get('x-request-id'), headers.get('x-content-type-options')]).toEqual([null, null])
  expect(headers.get('x-a')).toBe('b')
})

describe('a request to the broker', () => {
  it.each([
    ['GET', '/broker/auth?client_id=a%2Fb&scope=openid+email&x=%C3%BC', undefined],
    ['POST', '/broker/token', 'grant_type=authorization_code&code=%2B'],
    ['PUT', '/broker/a%20b/%2F', 'x'],
    ['DELETE', '/broker/session', undefined],
    ['OPTIONS', '/broker/token', undefined],
    ['HEAD', '/broker/auth', undefined],
  ])('%s %s is passed on letter by letter', async (method, path, body) => {
    expect((await ask(path, { method, ...(body && { body }) })).status).toBe(200)
    expect(seen).toEqual([expect.objectContaining({ method, url: path, body: body ?? '' })])
  })

  it('credentials and cookies pass, what is of the connection does not', async () => {
    await ask('/broker/token', {
      method: 'POST',
      body: 'a=b',
      headers: {
        authorization: 'Basic Y2k6c2VjcmV0',
        cookie: 'session=1; other=2',
        'content-type': 'application/x-www-form-urlencoded',
        connection: 'close, x-mine',
        'x-mine': 'secret',
        te: 'trailers',
        'keep-alive': 'timeout=5',
        upgrade: 'h2c',
        'proxy-authorization': 'Basic x',
      },
    })
    const [{ headers } = { headers: {} }] = seen
    expect(headers).toMatchObject({
      authorization: 'Basic Y2k6c2VjcmV0',
      cookie: 'session=1; other=2',
      'content-type': 'application/x-www-form-urlencoded',
    })
    for (const name of ['x-mine', 'te', 'keep-alive', 'upgrade', 'proxy-authorization']) {
      expect(headers).not.toHaveProperty(name)
    }
  })

  it.each([
    { trustProxy: false, host: 'depot.test', proto: 'http', addresses: '10.0.0.9' },
    { trustProxy: true, host: 'depot.example', proto: 'https', addresses: '1.2.3.4, 10.0.0.9' },
  ])('X-Forwarded-* with trust $trustProxy', async ({ trustProxy, host, proto, addresses }) => {
    open({ trustProxy })
    const headers = {
      host: 'depot.test',
      'x-forwarded-host': 'depot.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '1.2.3.4',
    }
    const incoming = { socket: { remoteAddress: '10.0.0.9' } }
    await ask('/broker/auth', { headers }, { incoming })
    expect(seen[0]?.headers).toMatchObject({
      'x-forwarded-host': host,
      'x-forwarded-proto': proto,
      'x-forwarded-for': addresses,
    })
  })

  it('the host and scheme of --base-url, whatever the client and a proxy say', async () => {
    open({ trustProxy: true, baseUrl: 'https://registry.example/depot' })
    const headers = {
      host: 'evil.test',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.example',
    }
    await ask('/broker/auth', { headers })
    expect(seen[0]?.headers).toMatchObject({
      'x-forwarded-host': 'registry.example',
      'x-forwarded-proto': 'https',
    })
    expect(JSON.stringify(seen[0]?.headers)).not.toContain('evil')
  })

  it('nothing outside of /broker', async () => {
    for (const path of ['/broker/../depot', '/brokers/x', '/depot/x', '/broker/%2e%2e/x']) {
      expect((await ask(path)).status).toBe(404)
    }
    expect(seen).toEqual([])
  })
})

describe('an answer of the broker', () => {
  it('redirects, several cookies and codes pass as they are', async () => {
    answer = (response) => {
      response.writeHead(303, {
        location: 'http://localhost:10000/login?code=1',
        'set-cookie': ['a=1; Path=/broker', 'b=2'],
        connection: 'x-own',
        'x-own': '1',
      })
      response.end()
    }
    const response = await ask('/broker/auth', { redirect: 'manual' })
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toBe('http://localhost:10000/login?code=1')
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/broker', 'b=2'])
    expect(response.headers.has('x-own')).toBe(false)
  })

  it('a compressed body stays compressed', async () => {
    const packed = gzipSync('a page')
    answer = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed)
    const response = await ask('/broker/page', { headers: { 'accept-encoding': 'gzip' } })
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(Buffer.from(await response.arrayBuffer())).toEqual(packed)
  })

  it.each([204, 304, 400, 404, 500])('%i passes', async (code) => {
    answer = (response) => response.writeHead(code).end()
    expect((await ask('/broker/x')).status).toBe(code)
    expect(await metrics.metrics()).toContain(`depot_broker_proxy_requests_total{code="${code}"} 1`)
  })
})

describe('bounds', () => {
  const bodyOf = (bytes: number) => 'x'.repeat(bytes)
  const errorOf = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    let thrown: unknown
    const { routes } = broker
    routes.onError((error) => {
      thrown = error
      return new Response(null, { status: 500 })
    })
    await ask(path, init)
    return thrown
  }

  it('a large form is passed on, a huge one is not', async () => {
    const large = bodyOf(500_000)
    expect((await ask('/broker/token', { method: 'POST', body: large })).status).toBe(200)
    expect(seen[0]?.body.length).toBe(500_000)
    const huge = { method: 'POST', body: bodyOf(1_100_000) }
    expect(await errorOf('/broker/token', huge)).toMatchObject({ reason: 'TooLarge' })
  })

  it('a huge one that does not say so is cut off', async () => {
    const body = new Blob([bodyOf(1_100_000)]).stream()
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit
    expect(await errorOf('/broker/token', init)).toMatchObject({ reason: 'TooLarge' })
  })

  it('answers 502 while the broker is unreachable', async () => {
    server.close()
    server.closeAllConnections()
    expect(await errorOf('/broker/auth')).toMatchObject({ reason: 'BadGateway' })
    expect(await metrics.metrics()).toContain('depot_broker_proxy_requests_total{code="502"} 1')
  })

  it('a broker that never answers is 504 in time', async () => {
    open({ timeoutMs: 100 })
    answer = () => undefined
    expect(await errorOf('/broker/auth')).toMatchObject({ reason: 'GatewayTimeout' })
  })

  it('a broker that stops in the middle breaks the answer off', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half')
      setTimeout(() => response.destroy(), 50)
    }
    const response = await ask('/broker/page')
    await expect(response.text()).rejects.toBeInstanceOf(Error)
  })
})
