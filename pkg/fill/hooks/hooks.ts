/** Inbound webhooks: a sender that knows a Depot's secret makes it poll at once. Nothing else of a request is believed. */

import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
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
  const { objects, apiGroup, clock } = options
  const log = options.log.child({ component: 'hooks' })
  const requests = counter(options.metrics, {
    name: 'webhook_requests_total',
    help: 'Requests of webhooks, by whether their signature was right.',
    labels: ['provider', 'result'],
  })
  const secrets = new Bounded<Promise<Buffer | undefined>>({ maxEntries: 1000, clock })

  // What this process wrote last: a burst of requests comes before any of it is read back.
  const written = new Bounded<string>({ maxEntries: 1000, clock })

  const askForPoll = async ({ metadata }: StoredObject): Promise<void> => {
    const { namespace, name, annotations } = metadata
    const annotation = pollAnnotation(apiGroup)
    const key = `${namespace}/${name}`
    const value = nextPoll(written.get(key) ?? annotations[annotation], clock())
    if (value === undefined) return
    written.set(key, value, clock() + writtenMs)
    try {
      await options.annotate({ kind: 'Depot', namespace, name }, { [annotation]: value })
    } catch (error) {
      written.delete(key)
      throw error
    }
  }

  const read = async (namespace: string, name: string): Promise<Buffer | undefined> => {
    const found = await objects.secret(namespace, name)
    return found?.['secret']
  }

  const secretOf = async (depot: StoredObject): Promise<Buffer | undefined> => {
    const { namespace, name } = depot.metadata
    const { webhook } = depot.spec as { webhook?: { secretRef?: { name?: string } } }
    const secretName = webhook?.secretRef?.name
    if (secretName === undefined) return undefined
    const key = `${namespace}/${secretName}`
    let reading = secrets.get(key)
    if (reading === undefined) {
      reading = read(namespace, secretName)
      secrets.set(key, reading, clock() + secretMs)
    }
    try {
      const secret = withoutLineEnd(await reading)
      if (secret?.length) return secret
      log.warn({ namespace, name, secretName }, 'the Secret of a webhook has no key "secret"')
    } catch (err) {
      log.warn({ namespace, name, secretName, err }, 'the Secret of a webhook cannot be read')
    }
    return undefined
  }

  return new Hono<ServingEnv>().post(hookRoute, async (c) => {
    const startMs = performance.now()
    const { provider, namespace, name } = c.req.param()
    if (!isProvider(provider)) {
      throw new RegistryError('NotFound', `no such webhook: use one of ${providers.join(', ')}`)
    }
    note(c, { route: hookRoute, namespace })
    const body = await bodyOf(c.req.raw)
    const depot = objects.get('Depot', namespace, name)
    const secret = depot && (await secretOf(depot))
    const isSigned = isSignedBy(provider, { secret, body, header: (key) => c.req.header(key) })
    requests.inc({ provider, result: isSigned ? 'accepted' : 'refused' })
    if (depot === undefined || !isSigned) {
      log.info({ provider, namespace, name, cause: causeOf(depot, secret) }, 'webhook refused')
      await sleep(refusalMs - (performance.now() - startMs))
      throw new RegistryError(
        'Unauthenticated',
        `no Depot ${namespace}/${name} has a webhook with this secret: check the path, and that the sender signs with the key "secret" of the Secret in spec.webhook.secretRef`,
      )
    }
    if (c.req.header('x-github-event') === 'ping') return c.json({ result: 'pong' })
    if ((depot.spec as { suspend?: boolean }).suspend) return c.json({ result: 'suspended' })
    await askForPoll(depot)
    return c.json({ result: 'polling' }, 202)
  })
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
