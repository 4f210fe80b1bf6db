import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { generate } from 'selfsigned'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createPool,
  discard,
  isTimeout,
  type Pool,
  proxyRules,
  readBounded,
  retryAfterMs,
} from './http.ts'

const open: { close(): unknown; closeAllConnections(): void }[] = []
const pools: Pool[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((opened) => opened.close()))
  for (const server of open.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  open.push(server)
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
  return (server.address() as AddressInfo).port
}

async function serve(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listening(createServer(listener))}`
}

function pool(options: Partial<Parameters<typeof createPool>[0]> = {}): Pool {
  const created = createPool({ connectMs: 5000, headersMs: 5000, idleMs: 5000, ...options })
  pools.push(created)
  return created
}

const get = { method: 'GET', path: '/' } as const

describe('a pool', () => {
  it('keeps a connection for the next request', async () => {
    const ports = new Set<number | undefined>()
    const origin = await serve((incoming, outgoing) => {
      ports.add(incoming.socket.remotePort)
      outgoing.end('ok')
    })
    const shared = pool({ connections: 1 })
    for (const _ of [1, 2, 3]) {
      const { body, status } = await shared.send({ origin }, get)
      expect([status, await text(body)]).toEqual([200, 'ok'])
    }
    expect(ports.size).toBe(1)
  })

  it('is renewed when trust changes, and running exchanges end normally', async () => {
    const own = await generate([{ name: 'commonName', value: 'h' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    })
    const ports: (number | undefined)[] = []
    const waiting = Promise.withResolvers<void>()
    const server = createTlsServer({ cert: own.cert, key: own.private }, (incoming, outgoing) => {
      ports.push(incoming.socket.remotePort)
      if (incoming.url !== '/slow') {
        outgoing.end('ok')
        return
      }
      outgoing.write('first ')
      void waiting.promise.then(() => outgoing.end('last'))
    })
    const origin = `https://127.0.0.1:${await listening(server)}`
    const shared = pool()
    await expect(shared.send({ origin }, get)).rejects.toThrow(/self-signed/)
    const slow = await shared.send({ origin, trust: { ca: own.cert } }, { ...get, path: '/slow' })
    // The same trust keeps the pool; other trust replaces it.
    discard((await shared.send({ origin, trust: { ca: own.cert } }, get)).body)
    await text((await shared.send({ origin, trust: { rejectUnauthorized: false } }, get)).body)
    expect(new Set(ports).size).toBe(3)
    waiting.resolve()
    expect(await text(slow.body)).toBe('first last')
    const wrong = { origin, trust: { ca: 'no certificate', cert: 'x' } }
    await expect(shared.send(wrong, get)).rejects.toBeInstanceOf(Error)
  })

  it('waits for a connection before the deadline of the exchange starts, and reports when it is busy', async () => {
    let requests = 0
    const origin = await serve((_incoming, outgoing) => {
      requests += 1
      if (requests === 2) outgoing.end('ok')
    })
    const shared = pool({ connections: 1, totalMs: 5000, waiting: { max: 1, ms: 60_000 } })
    const first = shared.send({ origin }, get)
    const second = shared.send({ origin }, get)
    await expect(shared.send({ origin }, get)).rejects.toMatchObject({ reason: 'Unavailable' })
    // The first reaches its deadline; the second starts only then, with its full deadline.
    await expect(first).rejects.toSatisfy(isTimeout)
    expect(await text((await second).body)).toBe('ok')
  })

  it('stops waiting at its limit, and when the caller aborts', async () => {
    const origin = await serve(() => undefined)
    const shared = pool({ connections: 1, waiting: { max: 9, ms: 50 } })
    const ended = new AbortController()
    const first = shared.send({ origin }, { ...get, signal: ended.signal })
    await expect(shared.send({ origin }, get)).rejects.toMatchObject({ reason: 'Unavailable' })
    const leaving = new AbortController()
    const third = shared.send({ origin }, { ...get, signal: leaving.signal })
    leaving.abort(new Error('left'))
    await expect(third).rejects.toThrow('left')
    ended.abort(new Error('ended'))
    await expect(first).rejects.toThrow('ended')
  })

  it('tells a slow server from an unreachable one', async () => {
    const origin = await serve((incoming, outgoing) => {
      if (incoming.url === '/body') outgoing.write('x')
    })
    await expect(pool({ headersMs: 50 }).send({ origin }, get)).rejects.toSatisfy(isTimeout)
    const shared = pool({ idleMs: 50 })
    const { body } = await shared.send({ origin }, { ...get, path: '/body' })
    await expect(text(body)).rejects.toSatisfy(isTimeout)
    const gone = await serve(() => undefined)
    open.pop()?.close()
    await expect(shared.send({ origin: gone }, get)).rejects.not.toSatisfy(isTimeout)
  })

  it('aborts running exchanges when it is closed', async () => {
    const origin = await serve((_incoming, outgoing) => void outgoing.write('x'))
    const shared = pool()
    const { body } = await shared.send({ origin }, get)
    await shared.close()
    await expect(text(body)).rejects.toBeInstanceOf(Error)
    await expect(shared.send({ origin }, get)).rejects.toThrow(/closed/)
  })
})

describe('a way through a proxy', () => {
  it('uses the proxy for https and http, with its credentials, but not for exceptions', async () => {
    const asked: string[] = []
    const proxy = createServer((incoming, outgoing) => {
      asked.push(`${incoming.method} ${incoming.url} ${incoming.headers['proxy-authorization']}`)
      outgoing.end('from the proxy')
    })
    proxy.on('connect', (incoming: IncomingMessage, asking) => {
      asked.push(`CONNECT ${incoming.url} ${incoming.headers['proxy-authorization']}`)
      const upstream = connect(Number(new URL(origin).port), '127.0.0.1')
      asking.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(asking).pipe(upstream)
      for (const socket of [asking, upstream]) socket.on('error', () => asking.destroy())
    })
    const own = await generate([{ name: 'commonName', value: 'h' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'login.example' }] }],
    })
    const server = createTlsServer({ cert: own.cert, key: own.private }, (_incoming, outgoing) => {
      outgoing.end('from the issuer')
    })
    const origin = `https://127.0.0.1:${await listening(server)}`
    const port = await listening(proxy)
    const uri = `http://me:secret@127.0.0.1:${port}`
    const proxies = proxyRules({ HTTPS_PROXY: uri, HTTP_PROXY: uri, NO_PROXY: 'direct.example' })
    const shared = pool({ proxies })
    const to = { origin: 'https://login.example', trust: { ca: own.cert } }
    expect(await text((await shared.send(to, get)).body)).toBe('from the issuer')
    const plain = await shared.send({ origin: 'http://login.example' }, get)
    expect(await text(plain.body)).toBe('from the proxy')
    const credentials = `Basic ${Buffer.from('me:secret').toString('base64')}`
    expect(asked).toEqual([
      `CONNECT login.example:443 ${credentials}`,
      `GET http://login.example/ ${credentials}`,
    ])
    await expect(shared.send({ origin: 'http://direct.example' }, get)).rejects.toThrow(/direct/)
  })

  it('fails at once if the proxy refuses', async () => {
    const proxy = createServer()
    proxy.on('connect', (_incoming, asking) => {
      asking.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    })
    const proxyUrl = `http://127.0.0.1:${await listening(proxy)}`
    await expect(pool().send({ origin: 'https://login.example', proxyUrl }, get)).rejects.toThrow(
      /407/,
    )
  })
})

describe('a bounded body', () => {
  it('is whole, or an error', async () => {
    expect(String(await readBounded(Readable.from([Buffer.from('ab'), Buffer.from('c')]), 3))).toBe(
      'abc',
    )
    const endless = Readable.from(
      (function* () {
        while (true) yield Buffer.alloc(1000)
      })(),
    )
    await expect(readBounded(endless, 5000)).rejects.toMatchObject({ reason: 'TooLarge' })
    expect(endless.destroyed).toBe(true)
  })
})

it.each([
  [undefined, undefined],
  ['3', 3000],
  [' 0 ', 0],
  ['Thu, 01 Jan 1970 00:00:05 GMT', 4000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['soon', undefined],
  ['-3', undefined],
])('Retry-After %j is %j ms from now', (header, expected) => {
  expect(retryAfterMs(header, 1000)).toBe(expected)
})
