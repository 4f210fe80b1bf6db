import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { createLogger, createMetrics } from '../telemetry/telemetry.ts'
import { ReadyAnswer, serve } from './serving.ts'

const anyPort = { host: '127.0.0.1', port: 0 }
const letters = ['a', 'b', 'c'] as const
/** Sent in one piece with their heads, and not. */
const sizes = [3000, 20_000, 64_800, 70_000] as const
/** More than the kernel keeps for a connection, by far. */
const perClient = 8_000_000

it.each(sizes)(
  'gives clients that read late their own answers of %i bytes, to the last byte',
  async (size) => {
    const answers = new Map(
      letters.map((letter) => [
        `/${letter}`,
        new ReadyAnswer(letter.repeat(size), {}, { route: '/' }),
      ]),
    )
    const server = await serve({
      fetch: () => new Response('nothing is ready'),
      hot: ({ url }) => answers.get(url),
      listen: anyPort,
      adminListen: anyPort,
      log: createLogger('silent'),
      metrics: createMetrics({ version: 'test' }),
      waitingFor: () => [],
    })
    onTestFinished(() => server.stop(0))
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

/** Sends so many requests in one piece, and one more that ends the connection. @returns everything that came back */
async function askAtOnce(url: string, letter: string, count: number): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const last = 'GET / HTTP/1.1\r\nHost: depot.test\r\nConnection: close\r\n\r\n'
  socket.write(`GET /${letter} HTTP/1.1\r\nHost: depot.test\r\n\r\n`.repeat(count) + last)
  return text(socket)
}
