import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** Below those that systems give to connections that go out, which would take one between now and its use. */
const [lowest, highest] = [10_000, 30_000]
const maxTries = 100

/** Ports of 127.0.0.1 that were free a moment ago, all different: for what must know its port before it listens. */
export async function freePorts(count: number): Promise<number[]> {
  const probes = await Promise.all(Array.from({ length: count }, () => probeFreePort()))
  await Promise.all(probes.map(({ server }) => new Promise((done) => server.close(done))))
  return probes.map(({ port }) => port)
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}

async function probeFreePort(): Promise<{ port: number; server: Server }> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(lowest, highest)
    const server = createServer()
    try {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      return { port, server }
    } catch (error) {
      if (tries === maxTries) throw error
    }
  }
}
