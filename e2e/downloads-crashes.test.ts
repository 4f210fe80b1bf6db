import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { moduleObjects, Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../hack/testbed/server/server.ts'
import { noValkey, TestValkey } from '../pkg/registry/downloads/valkey.fixture.ts'

const registry = new Registry()
afterAll(() => registry.remove())
const checksum = '00'.repeat(32)
registry.write(
  'vpc.yaml',
  moduleObjects({ name: 'vpc', versions: [{ version: '1.0.0', fileName: 'vpc.zip', checksum }] }),
)

/** A crash may lose the last 100 ms. On a busy machine, it may be more. */
const windowMs = 500

class Load {
  /** Times of the answers, in milliseconds since 1970. */
  #answered: number[] = []
  #unanswered = 0
  readonly #stop = new AbortController()
  readonly #clients: Promise<void>[]

  constructor({ url }: Server) {
    const path = `${url}/depot/modules/v1/platform/vpc/any/1.0.0/download`
    this.#clients = [1, 2, 3, 4].map(() => this.#ask(path))
  }

  get size(): number {
    return this.#answered.length
  }

  /** Waits for the end of every request. @param killedAt when the server was killed, if it was */
  async end(killedAt = Number.POSITIVE_INFINITY): Promise<{ least: number; most: number }> {
    this.#stop.abort()
    await Promise.all(this.#clients)
    const safe = this.#answered.filter((at) => at < killedAt - windowMs)
    return { least: safe.length, most: this.#answered.length + this.#unanswered }
  }

  async #ask(path: string): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const { status } = await fetch(path)
        if (status !== 204) throw new Error(`download answered ${status}`)
        this.#answered.push(Date.now())
      } catch {
        this.#unanswered += 1
      }
      await sleep(2)
    }
  }
}

async function totalDownloads({ url }: Server): Promise<number> {
  const response = await fetch(`${url}/depot/ui/v1/stats`)
  return ((await response.json()) as { totalDownloads: number }).totalDownloads
}

describe.skipIf(noValkey)('downloads under load', () => {
  it('are counted exactly once while Valkey is killed twenty times and the server five times', async () => {
    await using valkey = await TestValkey.start('--appendonly', 'yes')
    const flags = ['--stats-valkey-addr', `${valkey.host}:${valkey.port}`]
    let [least, most] = [0, 0]
    for (let life = 0; life < 5; life += 1) {
      const server = await startServer(registry, ...flags)
      const load = new Load(server)
      for (let round = 0; round < 4; round += 1) {
        await sleep(200 + 37 * life)
        await valkey.kill()
        await sleep(50 * round)
        await valkey.start()
      }
      await expect.poll(() => load.size).toBeGreaterThan(100)
      const killedAt = Date.now()
      process.kill(server.pid, 'SIGKILL')
      const ended = await load.end(killedAt)
      await server.stop()
      least += ended.least
      most += ended.most
    }

    const server = await startServer(registry, ...flags)
    await expect
      .poll(() => totalDownloads(server), { timeout: 30_000 })
      .toBeGreaterThanOrEqual(least)
    const beforeLast = await settled(server)
    expect(beforeLast).toBeLessThanOrEqual(most)
    const last = new Load(server)
    await expect.poll(() => last.size).toBeGreaterThan(100)
    const { most: more } = await last.end()
    await expect.poll(() => totalDownloads(server), { timeout: 30_000 }).toBe(beforeLast + more)
    expect(await server.stop()).toBe(0)
  })
})

/** Returns the count, once no event is queued and the count has stopped changing. */
async function settled(server: Server): Promise<number> {
  for (let last = -1; ; ) {
    const waiting = /^depot_download_queue_events (\d+)$/m
    const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()
    const now = await totalDownloads(server)
    if (now === last && waiting.exec(metrics)?.[1] === '0') return now
    last = now
    await sleep(500)
  }
}
