import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it, vi } from 'vitest'
import { createLogger, createMetrics } from '../telemetry/telemetry.ts'
import { ReadyAnswer, serve } from './serving.ts'

interface Line {
  readonly path?: string
  readonly bytes: number
}

const idleMs = 2000
const lines: Line[] = []
const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as Line) })
const slow = Promise.withResolvers<void>()
const ready = new ReadyAnswer('x'.repeat(5000), {}, { route: '/ready' })
const large = new ReadyAnswer('x'.repeat(1_000_000), {}, { route: '/large' })
const anyPort = { host: '127.0.0.1', port: 0 }
const server = await serve({
  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (pathname === '/slow') await slow.promise
    if (pathname === '/never') await new Promise(() => {})
    return new Response('y'.repeat(300))
  },
  hot: ({ url }) => (url === '/ready' ? ready : url === '/large' ? large : undefined),
  listen: anyPort,
  adminListen: anyPort,
  log,
  metrics: createMetrics({ version: 'test' }),
  waitingFor: () => [],
  idleMs,
})
afterAll(() => server.stop(0))

it('counts the bytes of each answer once, also where requests come before the answers to others', async () => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const paths = ['/slow', '/ready', '/quick', '/ready', '/last']
  for (const path of paths) {
    const close = path === '/last' ? 'Connection: close\r\n' : ''
    socket.write(`GET ${path} HTTP/1.1\r\nHost: depot.test\r\n${close}\r\n`)
  }
  await vi.waitFor(() => expect(lines.filter(({ path }) => path === '/ready')).toHaveLength(2))
  slow.resolve()
  const received = (await text(socket)).length
  await vi.waitFor(() => expect(lines).toHaveLength(paths.length))
  const sizes = new Map(lines.map(({ path, bytes }) => [path, bytes]))
  expect(lines.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(received)
  expect(sizes.get('/slow')).toBeLessThan(1000)
  expect(sizes.get('/quick')).toBeLessThan(1000)
  const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()
  const counted = [...metrics.matchAll(/^depot_http_response_bytes_total\{[^}]*\} (\d+)/gm)]
  expect(counted.reduce((sum, [, bytes]) => sum + Number(bytes), 0)).toBe(received)
})

it('ends connections whose request waits in vain', async () => {
  const socket = await send('/never')
  expect(await text(socket)).toBe('')
})

it.each(['/large', '/unknown'])(
  'ends connections of clients that ask for %s again and again and read nothing',
  async (path) => {
    const socket = await send(path)
    socket.pause().on('error', () => {})
    // Until the server reads no more; it must not take long.
    const sending = setInterval(() => socket.write(requestOf(path).repeat(100)), 10)
    // A connection that the server has cut off takes no more requests.
    await new Promise((resolve) => socket.once('error', resolve))
    clearInterval(sending)
    expect(socket.destroyed).toBe(true)
  },
)

it('keeps connections that wait for their next request', async () => {
  const socket = await send('/ready')
  await once(socket, 'data')
  // Longer than a request may wait: that nothing happens can only be waited for.
  await sleep(idleMs * 1.5)
  socket.end(requestOf('/last', 'Connection: close\r\n'))
  expect(await text(socket)).toContain('y'.repeat(300))
})

const requestOf = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: depot.test\r\n${headers}\r\n`

async function send(path: string): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(requestOf(path))
  return socket
}
