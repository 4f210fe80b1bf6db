import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it, onTestFinished, vi } from 'vitest'
import { createLogger, createMetrics } from '../telemetry/telemetry.ts'
import { ReadyAnswer, serve } from './serving.ts'

interface Line {
  readonly path?: string
  readonly bytes: number
}

const ready = new ReadyAnswer('x'.repeat(5000), {}, { route: '/ready' })
const large = new ReadyAnswer('x'.repeat(1_000_000), {}, { route: '/large' })
const known = new ReadyAnswer('y'.repeat(11_000), {}, { route: '/known' }, '"known"')
const anyPort = { host: '127.0.0.1', port: 0 }

const readyAnswers = new Map([
  ['/ready', ready],
  ['/large', large],
  ['/known', known],
])

/** A server whose `/slow` waits and whose `/never` does not answer. */
function start(slow: Promise<void>, lines: Line[], idleMs?: number) {
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as Line) })
  return serve({
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/slow') await slow
      if (pathname === '/never') await new Promise(() => {})
      return new Response('y'.repeat(300))
    },
    hot: ({ url }) => readyAnswers.get(url),
    listen: anyPort,
    adminListen: anyPort,
    log,
    metrics: createMetrics({ version: 'test' }),
    waitingFor: () => [],
    ...(idleMs !== undefined && { idleMs }),
  })
}

const idleMs = 2000
const server = await start(Promise.resolve(), [], idleMs)
/** Ends slow requests before idle connections. */
const patient = await start(Promise.resolve(), [])
afterAll(() => Promise.all([server.stop(0), patient.stop(0)]))

it('counts the bytes of each answer once, also for pipelined requests', async () => {
  const lines: Line[] = []
  const slow = Promise.withResolvers<void>()
  const waiting = await start(slow.promise, lines)
  onTestFinished(() => waiting.stop(0))
  const paths = ['/slow', '/ready', '/quick', '/ready', '/last']
  const close = 'Connection: close\r\n'
  const socket = await send(
    paths.map((path) => requestOf(path, path === '/last' ? close : '')).join(''),
    waiting.url,
  )
  await vi.waitFor(() => expect(lines.filter(({ path }) => path === '/ready')).toHaveLength(2))
  slow.resolve()
  const received = (await text(socket)).length
  await vi.waitFor(() => expect(lines).toHaveLength(paths.length))
  const sizes = new Map(lines.map(({ path, bytes }) => [path, bytes]))
  expect(lines.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(received)
  expect(sizes.get('/slow')).toBeLessThan(1000)
  expect(sizes.get('/quick')).toBeLessThan(1000)
  const metrics = await (await fetch(`${waiting.adminUrl}/metrics`)).text()
  const counted = [...metrics.matchAll(/^depot_http_response_bytes_total\{[^}]*\} (\d+)/gm)]
  expect(counted.reduce((sum, [, bytes]) => sum + Number(bytes), 0)).toBe(received)
})

it('closes connections that send nothing, or half a request, and then nothing', async () => {
  const before = openSockets()
  const kinds = ['', 'GET /ready HTTP/1.1\r\nHo']
  const mine = await Promise.all(
    kinds.flatMap((sent) => Array.from({ length: 20 }, () => send(sent, patient.url))),
  )
  const answers = await Promise.all(mine.map((socket) => text(socket)))
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 408 /)
  // Ours stay open.
  await vi.waitFor(() => expect(openSockets()).toBeLessThanOrEqual(before + 40), 60_000)
  for (const socket of mine) socket.destroy()
})

it('closes connections whose request gets no answer', async () => {
  const socket = await send(requestOf('/never'))
  expect(await text(socket)).toBe('')
})

it.each(['/large', '/unknown'])(
  'closes connections of clients that request %s again and again and read nothing',
  async (path) => {
    const socket = await send(requestOf(path))
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
  const socket = await send(requestOf('/ready'))
  await once(socket, 'data')
  // Longer than a request may wait: that nothing happens can only be waited for.
  await sleep(idleMs * 1.5)
  socket.end(requestOf('/last', 'Connection: close\r\n'))
  expect(await text(socket)).toContain('y'.repeat(300))
})

it('answers on one connection again and again, one request after the other', async () => {
  const socket = await send('')
  for (let round = 0; round < 50; round += 1) {
    const isKnown = round % 3 === 0
    socket.write(requestOf('/known', isKnown ? 'If-None-Match: "known"\r\n' : ''))
    let received = ''
    while ((received.split('\r\n\r\n')[1]?.length ?? -1) < (isKnown ? 0 : 11_000)) {
      received += String((await once(socket, 'data'))[0])
    }
    expect(received).toMatch(isKnown ? /^HTTP\/1.1 304 / : /^HTTP\/1.1 200 /)
  }
  socket.destroy()
})

it.each([
  ['/ready', 'Host: depot.test\r\n', 400],
  ['/ready', 'HOST: other.test\r\n', 400],
  ['/unready', 'host: depot.test\r\n', 400],
  ['/unready', 'Accept: */*\r\nHost:\r\n', 400],
  ['/ready', 'X-Forwarded-Host: other.test\r\nUser-Agent: Host\r\n', 200],
  ['/unready', 'X-Forwarded-Host: other.test\r\nUser-Agent: Host\r\n', 200],
])('refuses a second Host header: %s with %j is %i', async (path, headers, status) => {
  const socket = await send(requestOf(path, headers) + requestOf('/last', 'Connection: close\r\n'))
  const received = await text(socket)
  expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(
    received.includes('{"errors":["the request has more than one Host header: send one"]}'),
  ).toBe(status === 400)
  // The connection is still of use.
  expect(received.match(/HTTP\/1.1 200 /g)).toHaveLength(status === 200 ? 2 : 1)
})

it('keeps serving when clients leave before their answers', async () => {
  for (let round = 0; round < 200; round += 1) {
    const socket = await send(requestOf('/known').repeat(20))
    socket.resetAndDestroy()
  }
  const socket = await send(requestOf('/ready') + requestOf('/last', 'Connection: close\r\n'))
  expect(await text(socket)).toContain('x'.repeat(5000))
})

const requestOf = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: depot.test\r\n${headers}\r\n`

/** Counts both ends, because they are in one process. */
const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length

/** A connection that has sent something and does not close its side by itself. */
async function send(sent: string, url = server.url): Promise<Socket> {
  const { port } = new URL(url)
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
  await once(socket, 'connect')
  if (sent !== '') socket.write(sent)
  return socket
}
