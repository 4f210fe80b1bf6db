import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { RegistryError } from '../errors/errors.ts'
import { ClientShares } from './client-shares.ts'
import { type Incoming, ReverseProxy } from './proxy.ts'

/* Clients that read nothing, and those who wait for their places; with real connections. */

const perClient = 3
const connections = 6

let upstream: Server
let front: Server
let proxy: ReverseProxy
let sockets: Socket[]
let reached: number

const listening = (server: Server): Promise<string> =>
  new Promise((done) => {
    server.listen(0, '127.0.0.1', () =>
      done(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    )
  })

beforeEach(async () => {
  sockets = []
  reached = 0
  // More than the kernel keeps for a connection.
  const large = Buffer.alloc(12_000_000, 'x')
  upstream = createServer(({ url }, response) => {
    reached += 1
    response.end(url === '/large' ? large : 'small')
  })
  proxy = new ReverseProxy({
    to: await listening(upstream),
    name: 'the other server',
    trustProxy: true,
    maxRequestBytes: 0,
    timeoutMs: 60_000,
    connections,
    perClient,
  })
  const app = new Hono<{ Bindings: NonNullable<Incoming['env']> }>()
    .all('*', (c) => proxy.forward(c))
    .onError((error) => new Response(null, { status: (error as RegistryError).status }))
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  front = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  await listening(front)
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await proxy.close()
  for (const server of [front, upstream]) {
    server.closeAllConnections()
    server.close()
  }
})

/** Asks for a path from an address of this machine. */
function ask(path: string, from: string, forwardedFor = ''): Socket {
  const { port } = front.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  const header = forwardedFor && `X-Forwarded-For: 192.0.2.9, ${forwardedFor}\r\n`
  socket.on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: depot.test\r\n${header}\r\n`)
  sockets.push(socket)
  return socket
}

async function occupy(count: number, from: (n: number) => string, forwardedFor?: string) {
  const held = Array.from({ length: count }, (_, n) => ask('/large', from(n), forwardedFor).pause())
  await vi.waitFor(() => expect(reached).toBe(count))
  return held
}

const firstLineOf = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    socket.once('data', (data) => resolve(String(data).split('\r\n')[0] ?? ''))
  })

it('leaves places to other addresses', async () => {
  const held = await occupy(perClient, () => '127.0.0.1')
  expect(await firstLineOf(ask('/small', '127.0.0.2'))).toBe('HTTP/1.1 200 OK')
  expect(held.some(({ destroyed }) => destroyed)).toBe(false)
})

/** To be polled while it is refused: a client reads nothing only once its connection is full. */
const answerFor = (from: string) => () => firstLineOf(ask('/small', from))
const ok = 'HTTP/1.1 200 OK'
const wait = { timeout: 120_000 }

it('gives the place of a client that reads nothing to the next one of its address', async () => {
  await occupy(perClient, () => '127.0.0.1')
  await expect.poll(answerFor('127.0.0.1'), wait).toBe(ok)
})

it('gives places to others although clients of many addresses hold all of them', async () => {
  await occupy(connections, (n) => `127.0.0.${2 + (n % 3)}`)
  await expect.poll(answerFor('127.0.0.20'), wait).toBe(ok)
})

it('cuts no client that reads, however slowly', async () => {
  const held = await occupy(perClient, () => '127.0.0.1')
  const received = held.map(() => 0)
  const reading = setInterval(() => {
    for (const [n, socket] of held.entries()) {
      received[n] = (received[n] ?? 0) + ((socket.read() as Buffer | null)?.length ?? 0)
    }
  }, 20)
  await expect.poll(answerFor('127.0.0.1'), wait).toBe(ok)
  await vi.waitFor(() => expect(Math.min(...received)).toBeGreaterThan(12_000_000), wait)
  clearInterval(reading)
})

it('cuts no client because this process was paused', async () => {
  const waiting = { max: 1, ms: 60_000 }
  const shares = new ClientShares({ max: 1, perClient: 1, waiting, stalledMs: 200 })
  const cut = vi.fn<() => void>()
  const place = await shares.enter('a')
  place.unread(cut)
  const next = shares.enter('a')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
  await new Promise((done) => setTimeout(done, 20))
  expect(cut).not.toHaveBeenCalled()
  place.leave()
  const other = await next
  other.leave()
})

it('tells clients behind a trusted proxy apart by what that proxy says', async () => {
  const held = await occupy(perClient, () => '127.0.0.1', '198.51.100.1')
  const other = ask('/small', '127.0.0.1', '198.51.100.2')
  expect(await firstLineOf(other)).toBe('HTTP/1.1 200 OK')
  expect(held.some(({ destroyed }) => destroyed)).toBe(false)
})
