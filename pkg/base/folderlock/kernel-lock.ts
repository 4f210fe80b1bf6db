import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Reserves a folder for one process, with the lock of an empty SQLite file: Node has no other lock that the system releases
 * when the process dies.
 */
export class KernelLock {
  readonly #database: DatabaseSync
  readonly #path: string

  private constructor(database: DatabaseSync, path: string) {
    this.#database = database
    this.#path = path
  }

  /**
   * Takes the lock, without waiting for it.
   *
   * @returns undefined if another process has it, or had it until now
   * @throws Error if the folder cannot be written
   */
  static take(folder: string, fileName: string): KernelLock | undefined {
    const path = join(folder, fileName)
    const database = new DatabaseSync(path, { timeout: 0 })
    try {
      database.exec('BEGIN EXCLUSIVE')
      return new KernelLock(database, path)
    } catch (error) {
      database.close()
      if (isBusy(error) || isRemoved(error)) return undefined
      throw error
    }
  }

  release(): void {
    this.#database.close()
  }

  /** Releases the lock and removes its file. A process that opened the file before has to check that it still exists. */
  remove(): void {
    rmSync(this.#path, { force: true })
    this.#database.close()
  }
}

/** SQLITE_BUSY, which is also how SQLite reports a file server without locks. */
function isBusy(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number }
  return (errcode & 0xff) === 5
}

/** SQLITE_IOERR_FSTAT: the process that had the lock removed the file while this one opened it. */
const isRemoved = (error: unknown): boolean => (error as { errcode?: number }).errcode === 1802
