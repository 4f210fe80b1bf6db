import { setTimeout as sleep } from 'node:timers/promises'
import type { RegistryError } from '../../../base/errors/errors.ts'
import { discard } from '../../../base/http/http.ts'
import { withDeadline } from '../../../base/pacing/pacing.ts'
import { noAnswer } from '../../spool/spool.ts'
import type { ByteRange, Driver, ObjectInfo, WritableDriver } from '../driver.ts'
import { checkObjectName } from '../object-name.ts'
import { isRange, notSatisfiable } from '../satisfiable.ts'
import { createVerifying } from '../verifying.ts'
import { backoff } from './backoff.ts'
import { RemoteSource } from './remote-body.ts'
import { badGateway, connectionError, credentialsError, refusalError } from './remote-error.ts'
import type { RemoteStore } from './remote-store.ts'
import { createRemoteWriting } from './remote-writing.ts'
import type { RemoteTimings, StoreAnswer, Transport } from './transport.ts'

const maxAttempts = 3
const worthRetrying: ReadonlySet<number> = new Set([500, 502, 503, 504])

/** What a driver for one bucket or container is made of. */
export interface RemoteOptions {
  readonly store: RemoteStore
  readonly transport: Transport
  readonly timings: RemoteTimings
}

/** The objects of a bucket or container, over HTTP. */
export function createRemoteDriver(options: RemoteOptions): WritableDriver {
  const reading = createRemoteReading(options)
  return {
    ...reading,
    ...createRemoteWriting(options, reading),
    ...createVerifying(reading, (object) => toldBy(options, object)),
  }
}

/** What a store says of an object. One that cannot say it may not know the question, so that no answer is an error. */
async function toldBy({ store, transport, timings }: RemoteOptions, object: string) {
  const { checksum } = store
  if (checksum === undefined) return undefined
  try {
    const signing = checksum.request(checkObjectName(object))
    const request = await withDeadline(signing, timings.credentialsMs, noAnswer)
    const answer = await transport.send('HEAD', request, {})
    discardHead(answer)
    const sha256 = answer.status === 200 ? checksum.sha256(answer.header) : undefined
    if (sha256 === undefined) return undefined
    return { sizeBytes: Number(answer.header('content-length')), sha256 }
  } catch {
    return undefined
  }
}

function createRemoteReading({ store, transport, timings }: RemoteOptions): Driver {
  /** Asks until there is an answer that asking again would not better. */
  async function ask(
    method: 'GET' | 'HEAD',
    object: string,
    headers: Record<string, string> = {},
  ): Promise<StoreAnswer> {
    for (let attempt = 1; ; attempt++) {
      const last = attempt === maxAttempts
      const answer = await once(method, object, headers).catch((error: RegistryError) => {
        if (last || error.reason !== 'Unavailable') throw error
        return undefined
      })
      if (answer !== undefined) {
        const patient = answer.header('retry-after') !== undefined
        if (last || patient || !worthRetrying.has(answer.status)) return answer
        discard(answer.body)
      }
      await sleep(backoff(timings.backoffMs, attempt))
    }
  }

  async function once(
    method: 'GET' | 'HEAD',
    object: string,
    headers: Record<string, string>,
  ): Promise<StoreAnswer> {
    const signing = store.request(method, object)
    const request = await withDeadline(signing, timings.credentialsMs, noAnswer).catch(
      (error: unknown) => {
        throw credentialsError(store, error)
      },
    )
    return transport.send(method, request, headers).catch((error: unknown) => {
      throw connectionError(store, error)
    })
  }

  async function stat(object: string): Promise<ObjectInfo> {
    const answer = await ask('HEAD', checkObjectName(object))
    if (answer.status !== 200) throw await refusalError(store, answer)
    discardHead(answer)
    return infoOf(store, object, answer, Number(answer.header('content-length')))
  }

  async function outOfRange(object: string): Promise<RegistryError> {
    return notSatisfiable((await stat(object)).sizeBytes)
  }

  return {
    stat,

    async open(object, range) {
      checkObjectName(object)
      if (range !== undefined && !isRange(range)) throw await outOfRange(object)
      const part = (from: ByteRange | undefined, etag?: string) =>
        ask('GET', object, {
          ...(from && { range: `bytes=${from.start}-${from.end}` }),
          ...(etag !== undefined && { 'if-match': etag }),
        })
      const answer = await part(range)
      if (answer.status === 416) {
        discard(answer.body)
        throw await outOfRange(object)
      }
      if (answer.status !== 200 && answer.status !== 206) throw await refusalError(store, answer)
      const given = givenPart(answer)
      if (given === undefined || (range && !begins(range, given))) {
        discard(answer.body)
        // Azurite answers 206 even where there are no such bytes.
        const { sizeBytes } = await stat(object)
        if (range && range.start >= sizeBytes) throw notSatisfiable(sizeBytes)
        throw badGateway('the archive storage answers in a way that makes no sense')
      }
      const { sizeBytes, start, end } = given
      const etag = answer.header('etag')
      const last = Math.min(end, range?.end ?? end)
      const body = await RemoteSource.open(answer, {
        range: { start, end: last },
        excess: end > last,
        idleMs: timings.idleMs,
        pauseMs: (failures) => backoff(timings.backoffMs, failures),
        resume: async (from) => {
          const next = await part(from, etag)
          const rest = next.status === 206 ? givenPart(next) : undefined
          if (rest?.start === from.start && rest.sizeBytes === sizeBytes) return next
          throw await refusalError(store, next)
        },
        errorOf: (error) => connectionError(store, error),
      })
      return { info: infoOf(store, object, answer, sizeBytes), body }
    },

    async presign(object, ttlSeconds) {
      const signing = store.presign(checkObjectName(object), ttlSeconds)
      return withDeadline(signing, timings.credentialsMs, noAnswer).catch((error: unknown) => {
        throw credentialsError(store, error)
      })
    },
  }
}

/** Which bytes an answer holds, of how many. */
function givenPart({ status, header }: StoreAnswer) {
  if (status === 206) {
    const [, start, end, size] =
      /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header('content-range') ?? '') ?? []
    return size === undefined
      ? undefined
      : { start: Number(start), end: Number(end), sizeBytes: Number(size) }
  }
  const length = header('content-length')
  const sizeBytes = Number(length)
  if (length === undefined || !Number.isSafeInteger(sizeBytes)) return undefined
  return { start: 0, end: sizeBytes - 1, sizeBytes }
}

/** Some stores give the whole where a part was asked for; that will do where it begins at the same byte. */
function begins(range: ByteRange, given: { start: number; end: number }): boolean {
  return given.start === range.start && given.end >= given.start
}

function infoOf(
  { backend, name }: RemoteStore,
  object: string,
  answer: StoreAnswer,
  sizeBytes: number,
): ObjectInfo {
  const etag = answer.header('etag')
  if (etag === undefined || etag.startsWith('W/')) return { sizeBytes }
  return { sizeBytes, fingerprint: JSON.stringify([backend, name, object, etag, sizeBytes]) }
}

/** The answer to HEAD has no body, but its connection is only free once that was read. */
function discardHead({ body }: StoreAnswer): void {
  body.resume()
}
