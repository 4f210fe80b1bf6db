import type { RegistryError } from '../../../base/errors/errors.ts'
import { discard } from '../../../base/http/http.ts'
import type { ByteRange, Driver, ObjectInfo, OpenObject, WritableDriver } from '../driver.ts'
import { checkObjectName, isRange, notSatisfiable } from '../driver-input.ts'
import { createVerifying } from '../verifying.ts'
import { RemoteSource } from './remote-body.ts'
import { badGateway, connectionError, refusalError } from './remote-error.ts'
import type { RemoteStore } from './remote-store.ts'
import { RemoteWriting } from './remote-writing.ts'
import { type RemoteOptions, readRetries, StoreClient } from './store-client.ts'
import type { StoreAnswer } from './transport.ts'

/** The objects of a bucket or container, over HTTP. */
export function createRemoteDriver(options: RemoteOptions): WritableDriver {
  const client = new StoreClient(options)
  const reading = new RemoteReading(options, client)
  const writing = new RemoteWriting(options, client, reading)
  return {
    stat: (object) => reading.stat(object),
    open: (object, range) => reading.open(object, range),
    presign: (object, ttlSeconds) => reading.presign(object, ttlSeconds),
    put: (object, file, how) => writing.put(object, file, how),
    remove: (object) => writing.remove(object),
    list: (prefix) => writing.list(prefix),
    ...createVerifying(reading, (object) => reportedBy(options.store, client, object)),
  }
}

/** Reads the digest that a store reports. A store without checksums may fail here, so errors are not reported. */
async function reportedBy({ checksum }: RemoteStore, client: StoreClient, object: string) {
  if (checksum === undefined) return undefined
  try {
    const sign = () => checksum.request(checkObjectName(object))
    const answer = await client.send({ method: 'HEAD', sign }, { ...readRetries, attempts: 1 })
    discardHead(answer)
    const sha256 = answer.status === 200 ? checksum.sha256(answer.header) : undefined
    if (sha256 === undefined) return undefined
    return { sizeBytes: Number(answer.header('content-length')), sha256 }
  } catch {
    return undefined
  }
}

class RemoteReading implements Driver {
  readonly #options: RemoteOptions
  readonly #client: StoreClient

  constructor(options: RemoteOptions, client: StoreClient) {
    this.#options = options
    this.#client = client
  }

  async stat(object: string): Promise<ObjectInfo> {
    const answer = await this.#ask('HEAD', checkObjectName(object))
    if (answer.status !== 200) throw await this.#refusalOf(object, answer)
    discardHead(answer)
    return infoOf(this.#options.store, object, answer, Number(answer.header('content-length')))
  }

  async open(object: string, range?: ByteRange): Promise<OpenObject> {
    checkObjectName(object)
    const { store } = this.#options
    if (range !== undefined && !isRange(range)) throw await this.#outOfRange(object)
    const answer = await this.#part(object, range)
    if (answer.status === 416) {
      discard(answer.body)
      throw await this.#outOfRange(object)
    }
    if (answer.status !== 200 && answer.status !== 206) throw await refusalError(store, answer)
    const given = givenPart(answer)
    if (given === undefined || (range && !begins(range, given))) {
      discard(answer.body)
      // Azurite answers 206 even if the range is beyond the end.
      const { sizeBytes } = await this.stat(object)
      if (range && range.start >= sizeBytes) throw notSatisfiable(sizeBytes)
      throw badGateway('the answer of the archive storage cannot be understood')
    }
    const { sizeBytes, start, end } = given
    const last = Math.min(end, range?.end ?? end)
    const body = await RemoteSource.open(answer, {
      range: { start, end: last },
      excess: end > last,
      idleMs: this.#options.timings.idleMs,
      pauseMs: (failures) => this.#client.pauseMs(failures),
      resume: (from) => this.#resume(object, from, { etag: answer.header('etag'), sizeBytes }),
      errorOf: (error) => connectionError(store, error),
    })
    return { info: infoOf(store, object, answer, sizeBytes), body }
  }

  async presign(object: string, ttlSeconds: number): Promise<string> {
    const { store } = this.#options
    return this.#client.signed(store.presign(checkObjectName(object), ttlSeconds))
  }

  #ask(method: 'GET' | 'HEAD', object: string, headers: Record<string, string> = {}) {
    const sign = () => this.#options.store.request(method, object)
    return this.#client.send({ method, sign, headers }, readRetries)
  }

  #part(object: string, range: ByteRange | undefined, etag?: string): Promise<StoreAnswer> {
    return this.#ask('GET', object, {
      ...(range && { range: `bytes=${range.start}-${range.end}` }),
      ...(etag !== undefined && { 'if-match': etag }),
    })
  }

  /** Requests the rest of an object after its connection failed, if it is still the same object. */
  async #resume(
    object: string,
    from: ByteRange,
    { etag, sizeBytes }: { readonly etag: string | undefined; readonly sizeBytes: number },
  ): Promise<StoreAnswer> {
    const next = await this.#part(object, from, etag)
    const rest = next.status === 206 ? givenPart(next) : undefined
    if (rest?.start === from.start && rest.sizeBytes === sizeBytes) return next
    throw await refusalError(this.#options.store, next)
  }

  /** An answer to HEAD has no body, so the store cannot explain a refusal there. */
  async #refusalOf(object: string, head: StoreAnswer): Promise<RegistryError> {
    const { store } = this.#options
    if (head.status < 400 || head.status === 404) return refusalError(store, head)
    discardHead(head)
    const sign = () => store.request('GET', object)
    const sending = { method: 'GET', sign, headers: { range: 'bytes=0-0' } } as const
    const answer = await this.#client.send(sending, { ...readRetries, attempts: 1 })
    if (answer.status >= 400) return refusalError(store, answer)
    discard(answer.body)
    return refusalError(store, head)
  }

  async #outOfRange(object: string): Promise<RegistryError> {
    return notSatisfiable((await this.stat(object)).sizeBytes)
  }
}

/** The bytes in an answer, and the size of the whole object. */
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

/** Some stores send the whole object for a range. That is accepted if it begins at the same byte. */
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

/** The empty body of the answer to HEAD must be read before its connection can be reused. */
function discardHead({ body }: StoreAnswer): void {
  body.resume()
}
