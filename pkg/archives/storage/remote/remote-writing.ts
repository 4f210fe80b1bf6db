import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { ifFound, type RegistryError, unavailable } from '../../../base/errors/errors.ts'
import { discard, readBounded } from '../../../base/http/http.ts'
import { withDeadline } from '../../../base/pacing/pacing.ts'
import { noAnswer } from '../../spool/spool.ts'
import {
  checkObjectName,
  type Driver,
  type ListedObject,
  type LocalFile,
  type WritableDriver,
} from '../driver.ts'
import { badGateway, connectionError, refusalError, thrownBy } from './remote-error.ts'
import type { RemoteStore, StoreRequest, StoreUpload } from './remote-store.ts'
import { type RemoteOptions, type StoreClient, writeRetries } from './store-client.ts'
import type { StoreAnswer } from './transport.ts'

/** A page has up to 1,000 names of up to 1,024 bytes. */
const maxPageBytes = 16 * 1024 * 1024

/** Writes to a bucket or container. An upload is one request, so an object is stored as a whole or not at all. */
export class RemoteWriting implements Pick<WritableDriver, 'put' | 'remove' | 'list'> {
  readonly #options: RemoteOptions
  readonly #client: StoreClient
  readonly #reading: Pick<Driver, 'stat'>
  readonly #uploads: Uploads

  constructor(options: RemoteOptions, client: StoreClient, reading: Pick<Driver, 'stat'>) {
    this.#options = options
    this.#client = client
    this.#reading = reading
    this.#uploads = new Uploads(options.store, client)
  }

  async put(
    object: string,
    file: LocalFile,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<'created' | 'exists'> {
    checkObjectName(object)
    signal?.throwIfAborted()
    // An existing object is not sent again. The condition of the upload is for two concurrent writers.
    if (await this.#exists(object)) return 'exists'
    if ((await stat(file.path)).size !== file.sizeBytes) {
      throw unavailable('the archive changed before it was stored')
    }
    const answer = await this.#upload(object, file, signal)
    const { status } = answer
    if (isStored(status)) {
      discard(answer.body)
      return 'created'
    }
    if (status === 412 || status === 409) {
      discard(answer.body)
      if (await this.#exists(object)) return 'exists'
      throw unavailable('another process is storing this archive')
    }
    throw whereToWrite(await refusalError(this.#options.store, answer))
  }

  async remove(object: string): Promise<void> {
    checkObjectName(object)
    const { store } = this.#options
    const sign = () => store.request('DELETE', object)
    const answer = await this.#client.send({ method: 'DELETE', sign }, writeRetries)
    const { status } = answer
    if (status !== 404 && !isStored(status)) throw await refusalError(store, answer)
    discard(answer.body)
  }

  async *list(prefix: string): AsyncGenerator<ListedObject> {
    const { writing } = this.#options.store
    const found = writing.list(prefix, (request) => this.#fetchText(request))
    const pages = found[Symbol.asyncIterator]()
    try {
      for (;;) {
        const page = await this.#inTime(pages.next())
        if (page.done === true) return
        yield* page.value
      }
    } finally {
      await pages.return?.()
    }
  }

  /** Creates a missing container, and uploads without a condition if the store supports none. */
  async #upload(object: string, file: LocalFile, signal?: AbortSignal): Promise<StoreAnswer> {
    const { writing } = this.#options.store
    let answer = await this.#uploads.upload(object, file, true, signal)
    if (answer.status === 404 && writing.create !== undefined) {
      discard(answer.body)
      await this.#inTime(writing.create())
      answer = await this.#uploads.upload(object, file, true, signal)
    }
    if (answer.status !== 501) return answer
    discard(answer.body)
    return this.#uploads.upload(object, file, false, signal)
  }

  async #exists(object: string): Promise<boolean> {
    return (await ifFound(this.#reading.stat(object))) !== undefined
  }

  async #fetchText(request: StoreRequest): Promise<string> {
    const sign = async () => request
    const answer = await this.#client.send({ method: 'GET', sign }, writeRetries)
    if (answer.status !== 200) {
      throw whereToWrite(await refusalError(this.#options.store, answer))
    }
    return (await readBounded(answer.body, maxPageBytes)).toString()
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    const { store, timings } = this.#options
    return withDeadline(work, timings.idleMs, noAnswer).catch((error: unknown) => {
      if (isMissing(error)) throw missing(thrownBy(store, error))
      throw connectionError(store, error)
    })
  }
}

function whereToWrite(error: RegistryError): RegistryError {
  return error.reason === 'NotFound' ? missing(error.cause) : error
}

const missing = (cause: unknown): RegistryError =>
  badGateway('there is no bucket or container for the archives: create it', cause)

function isMissing(thrown: unknown): boolean {
  const { statusCode, code } = thrown as { statusCode?: unknown; code?: unknown }
  return statusCode === 404 || code === 404 || code === 'NoSuchBucket'
}

const uploadMs = 30 * 60_000
const chunkBytes = 256 * 1024

const isStored = (status: number): boolean => status >= 200 && status < 300

/** Uploads to one bucket or container, with a checksum if the store keeps one. */
class Uploads {
  readonly #store: RemoteStore
  readonly #client: StoreClient
  /** Whether the store accepts checksums; undefined until an upload has shown it. */
  #takesChecksum: boolean | undefined

  constructor(store: RemoteStore, client: StoreClient) {
    this.#store = store
    this.#client = client
    this.#takesChecksum = store.checksum === undefined ? false : undefined
  }

  /**
   * Services that are only compatible with S3 may refuse the checksum header: Backblaze with 400, others with 501.
   *
   * @param conditional whether to refuse to overwrite an existing object
   */
  async upload(
    object: string,
    file: LocalFile,
    conditional: boolean,
    signal?: AbortSignal,
  ): Promise<StoreAnswer> {
    const attempt = (checksum: boolean) =>
      this.#once(object, file, { conditional, checksum, sha256: file.sha256 }, signal)
    if (this.#takesChecksum !== undefined) return attempt(this.#takesChecksum)
    const answer = await attempt(true)
    if (answer.status !== 400 && answer.status !== 501) {
      if (isStored(answer.status)) this.#takesChecksum = true
      return answer
    }
    discard(answer.body)
    const without = await attempt(false)
    // If this is refused too, the first refusal may have had another cause.
    if (isStored(without.status)) this.#takesChecksum ??= false
    return without
  }

  async #once(
    object: string,
    { path, sizeBytes }: LocalFile,
    how: StoreUpload,
    signal?: AbortSignal,
  ): Promise<StoreAnswer> {
    const { writing } = this.#store
    const open = () => ({
      body: createReadStream(path, { highWaterMark: chunkBytes }),
      signal,
      inAllMs: uploadMs,
    })
    const headers = { 'content-length': String(sizeBytes) }
    const sign = () => writing.put(object, how)
    return this.#client.send({ method: writing.method, sign, headers, open, signal }, writeRetries)
  }
}
