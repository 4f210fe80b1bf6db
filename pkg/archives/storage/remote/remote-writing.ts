import { stat } from 'node:fs/promises'
import { ifFound, type RegistryError, unavailable } from '../../../base/errors/errors.ts'
import { discard, readBounded } from '../../../base/http/http.ts'
import { withDeadline } from '../../../base/pacing/pacing.ts'
import { noAnswer } from '../../spool/spool.ts'
import type { Driver, ListedObject, WritableDriver } from '../driver.ts'
import { checkObjectName } from '../driver-input.ts'
import { badGateway, connectionError, refusalError, thrownBy } from './remote-error.ts'
import type { StoreRequest } from './remote-store.ts'
import { type RemoteOptions, type StoreClient, writeRetries } from './store-client.ts'
import { isStored, Uploads } from './uploads.ts'

/** A page has up to 1,000 names of up to 1,024 bytes. */
const maxPageBytes = 16 * 1024 * 1024

/** Writes to a bucket or container. An upload is one request, so an object is stored as a whole or not at all. */
export function createRemoteWriting(
  { store, timings }: RemoteOptions,
  client: StoreClient,
  reading: Driver,
): Pick<WritableDriver, 'put' | 'remove' | 'list'> {
  const uploads = new Uploads(store, client)

  async function fetchText(request: StoreRequest): Promise<string> {
    const answer = await client.send({ method: 'GET', sign: async () => request }, writeRetries)
    if (answer.status !== 200) throw whereToWrite(await refusalError(store, answer))
    return (await readBounded(answer.body, maxPageBytes)).toString()
  }

  const exists = async (object: string): Promise<boolean> =>
    (await ifFound(reading.stat(object))) !== undefined

  return {
    async put(object, file, { signal } = {}) {
      checkObjectName(object)
      signal?.throwIfAborted()
      // An existing object is not sent again. The condition of the upload is for two writers at the same time.
      if (await exists(object)) return 'exists'
      if ((await stat(file.path)).size !== file.sizeBytes) {
        throw unavailable('the archive changed before it was stored')
      }
      let answer = await uploads.upload(object, file, true, signal)
      if (answer.status === 404 && store.writing.create !== undefined) {
        discard(answer.body)
        await inTime(store.writing.create())
        answer = await uploads.upload(object, file, true, signal)
      }
      if (answer.status === 501) {
        // The store does not support conditions.
        discard(answer.body)
        answer = await uploads.upload(object, file, false, signal)
      }
      const { status } = answer
      if (isStored(status)) {
        discard(answer.body)
        return 'created'
      }
      if (status === 412 || status === 409) {
        discard(answer.body)
        if (await exists(object)) return 'exists'
        throw unavailable('another process is storing this archive')
      }
      throw whereToWrite(await refusalError(store, answer))
    },

    async remove(object) {
      checkObjectName(object)
      const sign = () => store.request('DELETE', object)
      const answer = await client.send({ method: 'DELETE', sign }, writeRetries)
      const { status } = answer
      if (status !== 404 && !isStored(status)) throw await refusalError(store, answer)
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
