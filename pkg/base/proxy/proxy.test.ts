import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RegistryError } from '../errors/errors.ts'
import { type Forwarding, type Incoming, type ProxyOptions, ReverseProxy } from './proxy.ts'

let upstream: ReturnType<typeof createServer>
let front: ReturnType<typeof createServer>
let proxy: ReverseProxy
let answer: (incoming: IncomingMessage, outgoing: ServerResponse) => void
let seen: IncomingMessage[]
let forwarding: Forwarding

const portOf = (server: typeof front) => (server.address() as AddressInfo).port
const listening = (server: typeof front) =>
  new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })

beforeEach(async () => {
  seen = []
  forwarding = {}
  answer = (_incoming, outgoing) => outgoing.end('ok')
  upstream = createServer((incoming, outgoing) => {
    seen.push(incoming)
    answer(incoming, outgoing)
  })
  await listening(upstream)
  open()
  const app = new Hono<{ Bindings: NonNullable<Incoming['env']> }>()
    .all('*', (c) => proxy.forward(c, forwarding))
    .onError((error) =>
      error instanceof RegistryError
        ? new Response(error.message, { status: error.status })
        : new Response(null, { status: 500 }),
    )
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  front = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  await listening(front)
})
afterEach(async () => {
  await proxy.close()
  for (const server of [front, upstream]) {
    server.closeAllConnections()
    server.close()
  }
})

function open(options: Partial<ProxyOptions> = {}): void {
  proxy = new ReverseProxy({
    to: `http://127.0.0.1:${portOf(upstream)}`,
    name: 'the other server',
    trustProxy: false,
    maxRequestBytes: 1_000_000,
    timeoutMs: 5000,
    ...options,
  })
}

/** A client that sends a path and headers exactly as they are written. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const asking = request({ port: portOf(front), host: '127.0.0.1', path, headers, method })
  const response = new Promise<IncomingMessage>((done, fail) => {
    asking.once('response', done).once('error', fail)
  })
  return { asking, response }
}

async function statusOf(path: string, headers: Record<string, string> = {}): Promise<number> {
  const { asking, response } = ask(path, headers)
  asking.end()
  const { statusCode = 0 } = (await response).resume()
  return statusCode
}

describe('paths that the other server may read differently', () => {
  it.each([
    '/a/..;/b',
    '/a/..;x=y/b',
    '/a/%2e%2e;/b',
    '/a/%252e%252e/b',
    '/a/%25252e%25252e/b',
    '/a/.%252e/b',
    '/a/%2f..%2fb',
    '/a%2f..%2fb',
    '/a%5c..%5cb',
    '/a/..%5cb',
    '/a/%c0%ae%c0%ae/b',
    '/a/%e0%80%ae%e0%80%ae/b',
    '/a/..%c0%afb',
    '/a/%00',
    '/a/%0d%0ax',
    '/a/%250a',
    '/a/%7f',
    '/a/%2e%2e%20/b',
    '/a/%25252525252561',
  ])('%s is refused', async (path) => {
    expect(await statusOf(path)).toBe(400)
    expect(seen).toEqual([])
  })

  it.each([
    '/a%2Fb/c',
    '/a..b/..c/c..',
    '/a/b;x=1',
    '/100%25',
    '/%',
    '/a?next=/../b&x=%0a',
    '/%c3%bc',
  ])('%s is passed on', async (path) => {
    expect(await statusOf(path)).toBe(200)
    expect(seen[0]?.url).toBe(path)
  })

  it('resolves .. before it passes a path on', async () => {
    expect(await statusOf('/a/../../b/%2e%2E/c')).toBe(200)
    expect(seen[0]?.url).toBe('/c')
  })
})

describe('headers of a client that other servers trust', () => {
  const claims = {
    'X-Forwarded-User': 'root',
    'X-Forwarded-Email': 'root@example.com',
    'X-Forwarded-Prefix': '/evil',
    'X-Forwarded-Port': '1',
    'X-Forwarded-Host': 'evil.example',
    'X-Forwarded-For': '6.6.6.6',
    'X-Real-IP': '6.6.6.6',
    'True-Client-IP': '6.6.6.6',
    'X-Original-URL': '/admin',
    'X-Rewrite-URL': '/admin',
    'X-Remote-User': 'root',
    X_Remote_Group: 'admins',
    'Remote-User': 'root',
    'X-Auth-Request-User': 'root',
    'X-SSL-Client-Verify': 'SUCCESS',
    'X-Client-Cert': 'x',
    Forwarded: 'for=6.6.6.6;host=evil.example',
    Via: '1.1 evil',
    'X-HTTP-Method-Override': 'DELETE',
  }
  it.each([false, true])(
    'pass with trust %s only if they are forwarding headers',
    async (trustProxy) => {
      open({ trustProxy })
      expect(await statusOf('/a', { ...claims, 'X-Own': 'mine' })).toBe(200)
      const headers = seen[0]?.headers ?? {}
      const kept = trustProxy ? ['connection', 'forwarded', 'host'] : ['connection', 'host']
      expect(Object.keys(headers).toSorted()).toEqual([
        ...kept,
        'x-forwarded-for',
        'x-forwarded-host',
        'x-forwarded-proto',
        'x-own',
      ])
      expect(headers['x-forwarded-for']).toBe(trustProxy ? '6.6.6.6, 127.0.0.1' : '127.0.0.1')
    },
  )

  it('replaces them by the given ones, and removes omitted ones', async () => {
    forwarding = { path: '/b?x=1', headers: { authorization: 'Bearer t', cookie: undefined } }
    await statusOf('/a', { authorization: 'Basic x', cookie: 'session=1' })
    expect(seen[0]).toMatchObject({ url: '/b?x=1', headers: { authorization: 'Bearer t' } })
    expect(seen[0]?.headers).not.toHaveProperty('cookie')
  })
})

describe('bodies', () => {
  it('are streamed in both directions', async () => {
    answer = (incoming, outgoing) => incoming.pipe(outgoing)
    const { asking, response } = ask('/echo', { 'transfer-encoding': 'chunked' }, 'POST')
    asking.write('first')
    const echo = await response
    const chunks: string[] = []
    for await (const chunk of echo) {
      chunks.push(String(chunk))
      // The end is sent only after the beginning came back.
      if (chunks.length === 1) asking.end('last')
    }
    expect(chunks).toEqual(['first', 'last'])
  })

  it('have any length, and are read no faster than the client reads', async () => {
    const total = 64 * 1024 * 1024
    const chunk = Buffer.alloc(1024 * 1024)
    let sent = 0
    answer = (_incoming, outgoing) => {
      const send = (): void => {
        while (sent < total) {
          sent += chunk.length
          if (!outgoing.write(chunk)) {
            outgoing.once('drain', send)
            return
          }
        }
        outgoing.end()
      }
      send()
    }
    const { asking, response } = ask('/large')
    asking.end()
    let received = 0
    let sentBefore: number | undefined
    const body = await response
    for await (const part of body) {
      sentBefore ??= sent
      received += (part as Buffer).length
    }
    // Until the first piece was read, what was on the way fitted into the buffers of two connections.
    expect(sentBefore).toBeLessThan(total)
    expect(received).toBe(total)
  })

  it('cuts an answer that is too large, or refuses it if its length says so', async () => {
    open({ maxResponseBytes: 1000 })
    answer = (_incoming, outgoing) => outgoing.writeHead(200, { 'content-length': 2000 }).end()
    expect(await statusOf('/a')).toBe(502)
    answer = (_incoming, outgoing) => {
      outgoing.write('x'.repeat(900))
      outgoing.end('x'.repeat(900))
    }
    const { asking, response } = ask('/a')
    asking.end()
    const whole = response.then((body) => body.toArray())
    await expect(whole).rejects.toThrow(/aborted|hang up/)
  })

  it('aborts the request to the other server when the client leaves', async () => {
    const gone = Promise.withResolvers<void>()
    answer = (_incoming, outgoing) => {
      outgoing.write('x')
      outgoing.once('close', () => gone.resolve())
    }
    const { asking, response } = ask('/a')
    asking.end()
    const body = await response
    body.destroy()
    await expect(gone.promise).resolves.toBeUndefined()
  })

  it('queues requests beyond the limit, and refuses them when the queue is full', async () => {
    open({ connections: 2 })
    const held: ServerResponse[] = []
    answer = (_incoming, outgoing) => void held.push(outgoing)
    let refused = 0
    const full = Promise.withResolvers<void>()
    const statuses = Array.from({ length: 300 }, async () => {
      const status = await statusOf('/a')
      refused += status === 503 ? 1 : 0
      if (refused === 42) full.resolve()
      return status
    })
    await full.promise
    answer = (_incoming, outgoing) => outgoing.end('ok')
    for (const outgoing of held) outgoing.end('ok')
    const all = await Promise.all(statuses)
    expect(all.filter((status) => status === 200)).toHaveLength(258)
    expect(all.filter((status) => status === 503)).toHaveLength(42)
  })
})

it('refuses a method that no browser sends', async () => {
  const { asking, response } = ask('/a', {}, 'PROPFIND')
  asking.end()
  expect((await response).resume().statusCode).toBe(405)
})
