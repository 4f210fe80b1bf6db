import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { RegistryError, unavailable } from '../../errors/errors.ts'
import { discard, readBounded } from '../../http/http.ts'
import { withDeadline } from '../../pacing/pacing.ts'
import { noAnswer } from '../../spool/spool.ts'
import type { Driver, ListedObject, LocalFile, WritableDriver } from '../driver.ts'
import { checkObjectName } from '../object-name.ts'
import { backoff } from './backoff.ts'
import type { RemoteOptions } from './remote-driver.ts'
import { badGateway, connectionError, credentialsError, refusalError } from './remote-error.ts'
import type { StoreRequest, Upload } from './remote-store.ts'
import type { StoreAnswer } from './transport.ts'

const maxAttempts = 4
const uploadMs = 30 * 60_000
const chunkBytes = 256 * 1024
/** A page has up to 1,000 names of up to 1,024 bytes. */
const maxPageBytes = 16 * 1024 * 1024

/** The writing half of a bucket or container. An upload is one request, so that there is a whole object or none. */
export function createRemoteWriting(
  { store, transport, timings }: RemoteOptions,
  reading: Driver,
): Pick<WritableDriver, 'put' | 'remove' | 'list'> {
  const signed = (signing: Promise<StoreRequest>): Promise<StoreRequest> =>
    withDeadline(signing, timings.credentialsMs, noAnswer).catch((error: unknown) => {
      throw credentialsError(store, error)
    })

  /** Sends until there is an answer that sending again would not better. */
  async function send(once: () => Promise<StoreAnswer>, signal?: AbortSignal) {
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted()
      const outcome = await once().catch((thrown: unknown) => {
        signal?.throwIfAborted()
        return connectionError(store, thrown)
      })
      const passing = outcome instanceof RegistryError ? outcome.retry : isPassing(outcome.status)
      if (!passing || attempt === maxAttempts) {
        if (outcome instanceof RegistryError) throw outcome
        return outcome
      }
      if (!(outcome instanceof RegistryError)) discard(outcome.body)
      await sleep(backoff(timings.backoffMs, attempt), undefined, { signal })
    }
  }

  /** Whether the store takes a checksum to keep; undefined until an upload has shown it. */
  let takesChecksum = store.checksum === undefined ? false : undefined

  /** Services that only speak like S3 may refuse the header of the checksum: Backblaze with 400, others with 501. */
  async function upload(
    object: string,
    file: LocalFile,
    conditional: boolean,
    signal?: AbortSignal,
  ): Promise<StoreAnswer> {
    const attempt = (checksum: boolean) =>
      uploadOnce(object, file, { conditional, checksum, sha256: file.sha256 }, signal)
    if (takesChecksum !== undefined) return attempt(takesChecksum)
    const answer = await attempt(true)
    if (answer.status !== 400 && answer.status !== 501) {
      if (isStored(answer.status)) takesChecksum = true
      return answer
    }
    discard(answer.body)
    const without = await attempt(false)
    // The first refusal may have had another cause where this one is refused, too.
    if (isStored(without.status)) takesChecksum ??= false
    return without
  }

  function uploadOnce(object: string, file: LocalFile, how: Upload, signal?: AbortSignal) {
    return send(async () => {
      const { method, url, headers } = await store.writing.put(object, how)
      const body = createReadStream(file.path, { highWaterMark: chunkBytes })
      try {
        const length = { 'content-length': String(file.sizeBytes) }
        const request = { url, ...(headers && { headers }) }
        return await transport.send(method, request, length, { body, signal, inAllMs: uploadMs })
      } finally {
        body.destroy()
      }
    }, signal)
  }

  async function fetchText(request: StoreRequest): Promise<string> {
    const answer = await send(() => transport.send('GET', request, {}))
    if (answer.status !== 200) throw whereToWrite(await refusalError(store, answer))
    return (await readBounded(answer.body, maxPageBytes)).toString()
  }

  async function exists(object: string): Promise<boolean> {
    try {
      await reading.stat(object)
      return true
    } catch (error) {
      if (error instanceof RegistryError && error.reason === 'NotFound') return false
      throw error
    }
  }

  return {
    async put(object, file, { signal } = {}) {
      checkObjectName(object)
      signal?.throwIfAborted()
      // What is there already need not travel: the condition of the upload is for two that come at the same time.
      if (await exists(object)) return 'exists'
      if ((await stat(file.path)).size !== file.sizeBytes) {
        throw unavailable('the archive changed before it was stored')
      }
      let answer = await upload(object, file, true, signal)
      if (answer.status === 404 && store.writing.create !== undefined) {
        discard(answer.body)
        await inTime(store.writing.create())
        answer = await upload(object, file, true, signal)
      }
      if (answer.status === 501) {
        // A store that knows no conditions.
        discard(answer.body)
        answer = await upload(object, file, false, signal)
      }
      const { status } = answer
      if (isStored(status)) {
        discard(answer.body)
        return 'created'
      }
      if (status === 412 || status === 409) {
        discard(answer.body)
        if (await exists(object)) return 'exists'
        throw unavailable('another one is storing this archive')
      }
      throw whereToWrite(await refusalError(store, answer))
    },

    async remove(object) {
      checkObjectName(object)
      const answer = await send(async () => {
        const request = await signed(store.request('DELETE', object))
        return transport.send('DELETE', request, {})
      })
      const { status } = answer
      if (status !== 404 && (status < 200 || status >= 300)) throw await refusalError(store, answer)
      discard(answer.body)
    },

    async *list(prefix): AsyncGenerator<ListedObject> {
      const pages = store.writing.list(prefix, fetchText)[Symbol.asyncIterator]()
      try {
        for (;;) {
          const page = await inTime(pages.next())
          if (page.done === true) return
          yield* page.value
        }
      } finally {
        await pages.return?.()
      }
    },
  }

  function inTime<T>(work: Promise<T>): Promise<T> {
    return withDeadline(work, timings.idleMs, noAnswer).catch((error: unknown) => {
      if (isMissing(error)) throw missing(error)
      throw connectionError(store, error)
    })
  }
}

const isStored = (status: number): boolean => status >= 200 && status < 300

const isPassing = (status: number): boolean => [429, 500, 502, 503, 504].includes(status)

function whereToWrite(error: RegistryError): RegistryError {
  return error.reason === 'NotFound' ? missing(error.cause) : error
}

const missing = (cause: unknown): RegistryError =>
  badGateway('there is no bucket or container for the archives: create it', cause)

function isMissing(thrown: unknown): boolean {
  const { statusCode, code } = thrown as { statusCode?: unknown; code?: unknown }
  return statusCode === 404 || code === 404 || code === 'NoSuchBucket'
}
