import { createReadStream } from 'node:fs'
import { discard } from '../../../base/http/http.ts'
import type { LocalFile } from '../driver.ts'
import type { RemoteStore, StoreUpload } from './remote-store.ts'
import { type StoreClient, writeRetries } from './store-client.ts'
import type { StoreAnswer } from './transport.ts'

const uploadMs = 30 * 60_000
const chunkBytes = 256 * 1024

export const isStored = (status: number): boolean => status >= 200 && status < 300

/** Uploads to one bucket or container, with a checksum if the store keeps one. */
export class Uploads {
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
