import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { defaultLimits } from '../../archives/archive/archive.ts'
import { openSpool, type Spool } from '../../archives/spool/spool.ts'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import { answerErrors, type ServingEnv } from '../../base/serving/serving.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { folderObjects } from '../../records/store/store.ts'
import { publishRoutes } from './publishing.ts'

const mib = 1024 * 1024
const root = mkdtempSync(join(tmpdir(), 'depot-endpoint-'))
let spool: Spool
let app: (mibMs?: number) => Hono<ServingEnv>
beforeAll(async () => {
  for (const name of ['registry', 'archives']) mkdirSync(join(root, name))
  const log = createLogger('silent')
  const dir = join(root, 'registry')
  const objects = await folderObjects({ dir, apiGroup: 'depot.internal', watch: false, log })
  spool = await openSpool({ dir: join(root, 'spool'), sizeBytes: 64 * mib })
  const archives = openArchiveStore({ filesystemMountPath: join(root, 'archives') })
  app = (mibMs = 60_000) => {
    const mayPublish = () => true
    const routes = publishRoutes({
      objects,
      archives,
      spool,
      limits: defaultLimits,
      log,
      metrics: createMetrics({ version: '0' }),
      mayPublish,
      mibMs,
    })
    const served = new Hono<ServingEnv>().route('/', routes)
    answerErrors(served, log, 'look there')
    return served
  }
})
afterAll(async () => {
  await spool.close()
  rmSync(root, { recursive: true })
})

/** A body that has begun, and its end. */
function begin(
  to: Hono<ServingEnv>,
  bytes = new Uint8Array(1),
  headers: Record<string, string> = {},
) {
  const stream = new TransformStream<Uint8Array>()
  const writer = stream.writable.getWriter()
  void writer.write(bytes).catch(() => undefined)
  const sent = { 'x-depot-sha256': createHash('sha256').update(bytes).digest('hex') }
  const init: RequestInit = {
    method: 'PUT',
    body: stream.readable,
    duplex: 'half',
    headers: { ...sent, ...headers },
  }
  const answer = to.request('/depot/publish/v1/modules/team/vpc/aws/1.0.0', init)
  return { answer: Promise.resolve(answer), end: () => writer.close() }
}

it('reserves space for what has arrived only, and a quarter of the spool at most', async () => {
  const routes = app()
  const uploads = Array.from({ length: 16 }, () => begin(routes))
  await vi.waitFor(() => expect(spool.reservedBytes).toBe(16 * mib))
  const refused = await begin(routes).answer
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  const announced = await begin(routes, undefined, { 'content-length': `${mib}` }).answer
  expect(announced.status).toBe(503)
  await Promise.all(uploads.map(({ end }) => end()))
  const answers = await Promise.all(uploads.map(({ answer }) => answer))
  // The spool has space for them, and there is no such module.
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
  expect(spool.reservedBytes).toBe(0)
})

it('ends an upload whose bytes do not arrive', async () => {
  const { answer } = begin(app(50))
  expect((await answer).status).toBe(400)
  expect(spool.reservedBytes).toBe(0)
})
