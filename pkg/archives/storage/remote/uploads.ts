import { createReadStream } from 'node:fs'
import { discard } from '../../../base/http/http.ts'
import type { LocalFile } from '../driver.ts'
import type { RemoteOptions } from './remote-driver.ts'
import type { Upload } from './remote-store.ts'
import type { Send } from './sending.ts'
import type { StoreAnswer } from './transport.ts'

const uploadMs = 30 * 60_000
const chunkBytes = 256 * 1024

export const isStored = (status: number): boolean => status >= 200 && status < 300

/** Uploads to one place, with a checksum to keep where the store takes it. */
export class Uploads {
  readonly #store: RemoteOptions['store']
  readonly #transport: RemoteOptions['transport']
  readonly #send: Send
  /** Whether the store takes a checksum to keep; undefined until an upload has shown it. */
  #takesChecksum: boolean | undefined

  constructor({ store, transport }: RemoteOptions, send: Send) {
    this.#store = store
    this.#transport = transport
    this.#send = send
    this.#takesChecksum = store.checksum === undefined ? false : undefined
  }

  /**
   * Services that only speak like S3 may refuse the header of the checksum: Backblaze with 400, others with 501.
   *
   * @param conditional whether to store only what is not there
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
    // The first refusal may have had another cause where this one is refused, too.
    if (isStored(without.status)) this.#takesChecksum ??= false
    return without
  }

  #once(object: string, file: LocalFile, how: Upload, signal?: AbortSignal): Promise<StoreAnswer> {
    return this.#send(async () => {
      const { method, url, headers } = await this.#store.writing.put(object, how)
      const body = createReadStream(file.path, { highWaterMark: chunkBytes })
      try {
        const length = { 'content-length': String(file.sizeBytes) }
        const request = { url, ...(headers && { headers }) }
        const upload = { body, signal, inAllMs: uploadMs }
        return await this.#transport.send(method, request, length, upload)
      } finally {
        body.destroy()
      }
    }, signal)
  }
}
