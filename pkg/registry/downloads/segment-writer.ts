import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Appends to a file of its own. Written events survive the end of this process at once. A sync follows the writes, one at a
 * time, so that they also survive a power failure.
 */
export class SegmentWriter {
  readonly #file: FileHandle
  readonly #path: string
  #sizeBytes = 0
  #unsynced = false
  #syncing: Promise<void> | undefined
  #syncError: unknown

  private constructor(file: FileHandle, path: string) {
    this.#file = file
    this.#path = path
  }

  static async create(path: string): Promise<SegmentWriter> {
    return new SegmentWriter(await open(path, 'wx', 0o600), path)
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Writes everything or, as far as readers can see, nothing. */
  async write(text: string): Promise<void> {
    if (this.#syncError !== undefined) throw this.#syncError
    const bytes = Buffer.from(text)
    try {
      for (let done = 0; done < bytes.length; ) {
        const at = this.#sizeBytes + done
        done += (await this.#file.write(bytes, done, bytes.length - done, at)).bytesWritten
      }
    } catch (error) {
      await this.#file.truncate(this.#sizeBytes).catch(() => undefined)
      throw error
    }
    const isNew = this.#sizeBytes === 0
    this.#sizeBytes += bytes.length
    this.#unsynced = true
    this.#syncing ??= this.#sync(isNew).finally(() => {
      this.#syncing = undefined
    })
  }

  async close(): Promise<void> {
    await this.#syncing
    await this.#file.close()
  }

  async #sync(isNew: boolean): Promise<void> {
    try {
      if (isNew) await syncFolder(dirname(this.#path))
      while (this.#unsynced) {
        this.#unsynced = false
        await this.#file.datasync()
      }
    } catch (error) {
      this.#syncError = error
    }
  }
}

/** A new file is found again only after its folder was synced. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r')
  await folder.sync()
}
