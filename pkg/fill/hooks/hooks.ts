/** Inbound webhooks: a sender that knows a Depot's secret makes it poll at once. Depot trusts nothing else in a request. */

import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Context, Hono } from 'hono'
import { RegistryError } from '../../base/errors/errors.ts'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import { note, type ServingEnv } from '../../base/serving/serving.ts'
import { counter, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import type { Objects, StoredObject } from '../../records/store/store.ts'
import { nextPoll, pollAnnotation } from '../sync/sync.ts'

export interface HookOptions {
  readonly objects: Pick<Objects, 'get' | 'secret'>
  /** Writes an annotation of a Depot. Every replica answers webhooks, so it must not need the Lease. */
  readonly annotate: (
    ref: { readonly kind: 'Depot'; readonly namespace: string; readonly name: string },
    annotations: Readonly<Record<string, string>>,
  ) => Promise<unknown>
  readonly apiGroup: string
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock: Clock
}

const hookRoute = '/depot/hooks/:provider/:namespace/:name'

const maxHookBytes = 2 ** 20
/** All refusals take this long, so that they do not tell whether a Depot or its Secret exists. */
const refusalMs = 250
const secretMs = 10_000
const writtenMs = 20_000

export function hookRoutes(options: HookOptions): Hono<ServingEnv> {
  const webhooks = new Webhooks(options)
  return new Hono<ServingEnv>().post(hookRoute, (c) => webhooks.answer(c))
}

const requestCounter = (metrics: Metrics) =>
  counter(metrics, {
    name: 'webhook_requests_total',
    help: 'Requests of webhooks, by whether Depot accepted them.',
    labels: ['provider', 'result'],
  })

class Webhooks {
  readonly #options: HookOptions
  readonly #log: Logger
  readonly #requests: ReturnType<typeof requestCounter>
  readonly #secrets: Bounded<Promise<Buffer | undefined>>
  /** Values that this process wrote last: a burst of requests comes before any of it is read back. */
  readonly #written: Bounded<string>

  constructor(options: HookOptions) {
    const { clock, metrics } = options
    this.#options = options
    this.#log = options.log.child({ component: 'hooks' })
    this.#requests = requestCounter(metrics)
    this.#secrets = new Bounded({ maxEntries: 1000, clock })
    this.#written = new Bounded({ maxEntries: 1000, clock })
  }

  /** @throws RegistryError */
  async answer(c: Context<ServingEnv, typeof hookRoute>): Promise<Response> {
    const startMs = performance.now()
    const { provider, namespace, name } = c.req.param()
    if (!isProvider(provider)) {
      throw new RegistryError('NotFound', `no such webhook: use one of ${providers.join(', ')}`)
    }
    note(c, { route: hookRoute, namespace })
    const body = await bodyOf(c.req.raw)
    const depot = this.#options.objects.get('Depot', namespace, name)
    const secret = depot && (await this.#secretOf(depot))
    const isSigned = isSignedBy(provider, { secret, body, header: (key) => c.req.header(key) })
    this.#requests.inc({ provider, result: isSigned ? 'accepted' : 'refused' })
    if (depot === undefined || !isSigned) {
      const cause = causeOf(depot, secret)
      this.#log.info({ provider, namespace, name, cause }, 'webhook refused')
      await sleep(refusalMs - (performance.now() - startMs))
      throw new RegistryError(
        'Unauthenticated',
        `no Depot ${namespace}/${name} has a webhook with this secret: check the path, and that the sender signs with the key "secret" of the Secret in spec.webhook.secretRef`,
      )
    }
    if (c.req.header('x-github-event') === 'ping') return c.json({ result: 'pong' })
    if ((depot.spec as { suspend?: boolean }).suspend) return c.json({ result: 'suspended' })
    await this.#askForPoll(depot)
    return c.json({ result: 'polling' }, 202)
  }

  /** The secret of a Depot's webhook; undefined if there is none. The log says why. */
  async #secretOf(depot: StoredObject): Promise<Buffer | undefined> {
    const { namespace, name } = depot.metadata
    const { webhook } = depot.spec as { webhook?: { secretRef?: { name?: string } } }
    const secretName = webhook?.secretRef?.name
    if (secretName === undefined) return undefined
    try {
      const secret = withoutLineEnd(await this.#read(namespace, secretName))
      if (secret?.length) return secret
      this.#log.warn({ namespace, name, secretName }, 'the Secret of a webhook has no key "secret"')
    } catch (err) {
      this.#log.warn({ namespace, name, secretName, err }, 'the Secret of a webhook cannot be read')
    }
    return undefined
  }

  /** Reads a Secret once in ten seconds, however many requests come. */
  #read(namespace: string, secretName: string): Promise<Buffer | undefined> {
    const { objects, clock } = this.#options
    const key = `${namespace}/${secretName}`
    const known = this.#secrets.get(key)
    if (known !== undefined) return known
    const reading = objects.secret(namespace, secretName).then((found) => found?.['secret'])
    this.#secrets.set(key, reading, clock() + secretMs)
    return reading
  }

  async #askForPoll({ metadata }: StoredObject): Promise<void> {
    const { apiGroup, clock, annotate } = this.#options
    const { namespace, name, annotations } = metadata
    const annotation = pollAnnotation(apiGroup)
    const key = `${namespace}/${name}`
    const value = nextPoll(this.#written.get(key) ?? annotations[annotation], clock())
    if (value === undefined) return
    this.#written.set(key, value, clock() + writtenMs)
    try {
      await annotate({ kind: 'Depot', namespace, name }, { [annotation]: value })
    } catch (error) {
      this.#written.delete(key)
      throw error
    }
  }
}

function causeOf(depot: StoredObject | undefined, secret: Buffer | undefined): string {
  if (depot === undefined) return 'there is no such Depot'
  if (secret === undefined) return 'spec.webhook names no Secret that has the key "secret"'
  return 'the signature is wrong'
}

/** `kubectl create secret --from-file` keeps the line end of the file, which no sender has. */
const withoutLineEnd = (secret: Buffer | undefined): Buffer | undefined =>
  secret && Buffer.from(secret.toString('latin1').replace(/\r?\n$/, ''), 'latin1')

const isProvider = (name: string): name is Sender => providers.some((one) => one === name)

/** @throws RegistryError TooLarge, BadRequest */
async function bodyOf({ headers, body }: Request): Promise<Buffer> {
  const tooLarge = () =>
    new RegistryError('TooLarge', `the body has more than ${maxHookBytes} bytes`)
  if (Number(headers.get('content-length') ?? 0) > maxHookBytes) throw tooLarge()
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxHookBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const providers = ['github', 'gitlab', 'generic'] as const
type Sender = (typeof providers)[number]

interface Signed {
  /** Undefined: no signature is right, and finding that out takes as long. */
  readonly secret: Buffer | undefined
  readonly body: Buffer
  /** A header by its name. */
  readonly header: (name: string) => string | undefined
}

const none = randomBytes(32)

/** Whether a request was sent by somebody who knows the secret. */
function isSignedBy(provider: Sender, { secret, body, header }: Signed): boolean {
  const isUsable = secret !== undefined && secret.length > 0
  const key = isUsable ? secret : none
  const [given, wanted] =
    provider === 'gitlab'
      ? [header('x-gitlab-token'), key]
      : [
          header('x-hub-signature-256'),
          Buffer.from(`sha256=${createHmac('sha256', key).update(body).digest('hex')}`),
        ]
  return isEqual(Buffer.from(given ?? ''), wanted) && isUsable
}

/** Digests have one length, so that the time tells nothing. */
function isEqual(a: Buffer, b: Buffer): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}
