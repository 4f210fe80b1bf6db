import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createLogger, createMetrics } from '../telemetry/telemetry.ts'
import { ReadyAnswer, serve } from './serving.ts'

const anyPort = { host: '127.0.0.1', port: 0 }
const letters = ['a', 'b', 'c'] as const
/** Sizes that are sent in one piece with their heads, and one that is not. */
const sizes = [3000, 20_000, 64_800, 70_000] as const
/** Far more than the kernel buffers for a connection. */
const perClient = 8_000_000

/** A server with an answer of this size for each letter. */
async function start(size: number) {
  const answers = new Map(
    letters.map((letter) => [
      `/${letter}`,
      new ReadyAnswer(letter.repeat(size), {}, { route: '/' }),
    ]),
  )
  const asked: string[] = []
  const server = await serve({
    fetch: () => new Response('nothing is ready'),
    hot({ url }) {
      asked.push(url)
      return answers.get(url)
    },
    listen: anyPort,
    adminListen: anyPort,
    log: createLogger('silent'),
    metrics: createMetrics({ version: 'test' }),
    waitingFor: () => [],
  })
  onTestFinished(() => server.stop(0))
  return { server, asked }
}

it.each(sizes)(
  'gives late readers their own answers of %i bytes, to the last byte',
  async (size) => {
    const { server } = await start(size)
    const count = Math.ceil(perClient / size)
    // All at once: the server writes many answers before any client has read one.
    const received = await Promise.all(
      letters.map((letter) => askAtOnce(server.url, letter, count)),
    )
    for (const [index, letter] of letters.entries()) {
      const bodies = received[index]?.split(/HTTP\/1\.1 200 OK\r\n[^]*?\r\n\r\n/).slice(1, -1) ?? []
      const wrong = bodies.findIndex((body) => body !== letter.repeat(size))
      expect([letter, bodies.length, wrong]).toEqual([letter, count, -1])
    }
  },
)

it.each(sizes)(
  'gives late readers the same answer of %i bytes, each with its own head',
  async (size) => {
    const { server } = await start(size)
    const count = Math.ceil(perClient / size)
    const received = await Promise.all(
      letters.map((client) => askAtOnce(server.url, 'a', count, client)),
    )
    for (const [index, client] of letters.entries()) {
      const ids = [...(received[index] ?? '').matchAll(/X-Request-Id: (\S+)/g)].map(([, id]) => id)
      const expected = Array.from({ length: count }, (_, request) => `${client}-${request}`)
      expect(ids.slice(0, -1)).toEqual(expected)
    }
  },
)

it('gives a late reader its whole answer when the server stops', async () => {
  const { server, asked } = await start(12_000_000)
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.pause().write('GET /a HTTP/1.1\r\nHost: depot.test\r\n\r\n')
  await vi.waitFor(() => expect(asked).toEqual(['/a']))
  const stopped = server.stop(60_000)
  // Longer than connections without a request are waited for; that nothing happens can only be waited for.
  await sleep(1500)
  const received = (await text(socket)).length
  expect(received).toBeGreaterThan(12_000_000)
  await stopped
})

/**
 * Sends so many requests in one piece, and one more that ends the connection.
 *
 * @param client prefix of the ids of its requests
 * @returns everything that came back
 */
async function askAtOnce(
  url: string,
  letter: string,
  count: number,
  client = 'client',
): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const requests = Array.from(
    { length: count },
    (_, request) =>
      `GET /${letter} HTTP/1.1\r\nHost: depot.test\r\nX-Request-Id: ${client}-${request}\r\n\r\n`,
  )
  const last = 'GET / HTTP/1.1\r\nHost: depot.test\r\nConnection: close\r\n\r\n'
  socket.write(requests.join('') + last)
  return text(socket)
}
