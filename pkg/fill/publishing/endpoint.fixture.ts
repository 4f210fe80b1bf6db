import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import { defaultLimits } from '../../archives/archive/archive.ts'
import { openSpool, type Spool } from '../../archives/spool/spool.ts'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import { answerErrors, type ServingEnv } from '../../base/serving/serving.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { folderObjects, type Objects } from '../../records/store/store.ts'
import { type PublishRoutesOptions, publishRoutes } from './endpoint.ts'

export const mib = 1024 * 1024
export const digestOf = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

const storageConfig = { fileSystem: { directoryPath: 'archives' } }

interface Sent {
  readonly method?: 'PUT' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly caller?: string
  readonly signal?: AbortSignal
}

/** The routes of publishing over a folder, in which everybody may publish. */
export class PublishingApp {
  readonly #root = mkdtempSync(join(tmpdir(), 'depot-endpoint-'))
  readonly metrics = createMetrics({ version: '0' })
  readonly archives = join(this.#root, 'archives')
  objects!: Objects
  spool!: Spool

  /** @param spoolDir default: a new one */
  async open(spoolDir = join(this.#root, 'spool')): Promise<void> {
    for (const name of ['registry', 'archives']) mkdirSync(join(this.#root, name))
    this.objects = await folderObjects({
      dir: join(this.#root, 'registry'),
      apiGroup: 'depot.internal',
      watch: false,
      log: createLogger('silent'),
    })
    this.spool = await openSpool({ dir: spoolDir, sizeBytes: 64 * mib })
    const config = { name: 'vpc', provider: 'aws', storageConfig }
    await this.add('Module', 'vpc', { moduleConfig: config })
    await this.add('Provider', 'cmdb', { providerConfig: { name: 'cmdb', storageConfig } })
  }

  async close(): Promise<void> {
    await this.spool.close()
    rmSync(this.#root, { recursive: true })
  }

  async add(kind: 'Module' | 'Provider', name: string, spec: object): Promise<void> {
    const metadata = { name, namespace: 'team' }
    await this.objects.create({ kind, metadata, spec: { ...spec, versions: [] } })
  }

  /** The routes of one process. */
  routes(more: Partial<PublishRoutesOptions> = {}): Hono<ServingEnv> {
    const log = createLogger('silent')
    const routes = publishRoutes({
      objects: this.objects,
      archives: openArchiveStore({ filesystemMountPath: this.archives }),
      spool: this.spool,
      limits: defaultLimits,
      clock: Date.now,
      log,
      metrics: createMetrics({ version: '0' }),
      publisherOf: async () => ({}),
      ...more,
    })
    const served = new Hono<ServingEnv>().route('/', routes)
    answerErrors(served, log, 'look there')
    return served
  }
}

/** Sends a body, or one that has not ended. */
export async function send(
  to: Hono<ServingEnv>,
  path: string,
  body: Uint8Array | ReadableStream<Uint8Array> | string,
  { method = 'PUT', headers = {}, caller = 'ci', signal }: Sent = {},
) {
  const digest = body instanceof Uint8Array ? { 'x-depot-sha256': digestOf(body) } : {}
  const init: RequestInit = {
    method,
    body,
    duplex: 'half',
    headers: { ...digest, ...headers },
    ...(signal && { signal }),
  }
  const env = { facts: { callerHash: caller } }
  const answer = await to.request(`/depot/publish/v1/${path}`, init, env)
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answered }
}

interface Answered {
  readonly outcome?: string
  readonly newModule?: boolean
  readonly errors?: readonly string[]
  readonly refusals?: readonly { readonly reason: string }[]
  readonly missing?: readonly string[]
  readonly incomplete?: readonly string[]
}

/** A body that has begun, and its end. */
export function begin(
  to: Hono<ServingEnv>,
  path: string,
  bytes: Uint8Array = new Uint8Array(1),
  sent: Sent = {},
) {
  const stream = new TransformStream<Uint8Array>()
  const writer = stream.writable.getWriter()
  void writer.write(bytes).catch(() => undefined)
  const headers = { 'x-depot-sha256': digestOf(bytes), ...sent.headers }
  const answer = send(to, path, stream.readable, { ...sent, headers })
  return { answer, end: () => writer.close(), abort: () => writer.abort(new Error('gone')) }
}
