import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, expect, it, vi } from 'vitest'
import { createLogger, createMetrics } from '../telemetry/telemetry.ts'
import { ReadyAnswer, serve } from './serving.ts'

interface Line {
  readonly path?: string
  readonly bytes: number
}

const lines: Line[] = []
const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as Line) })
const slow = Promise.withResolvers<void>()
const ready = new ReadyAnswer('x'.repeat(5000), {}, { route: '/ready' })
const anyPort = { host: '127.0.0.1', port: 0 }
const server = await serve({
  async fetch(request) {
    if (new URL(request.url).pathname === '/slow') await slow.promise
    return new Response('y'.repeat(300))
  },
  hot: ({ url }) => (url === '/ready' ? ready : undefined),
  listen: anyPort,
  adminListen: anyPort,
  log,
  metrics: createMetrics({ version: 'test' }),
  waitingFor: () => [],
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
