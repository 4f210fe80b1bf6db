/** Lets one process at a time write to a folder, with a lock that the system releases when the process dies. */

import { randomUUID } from 'node:crypto'
import { accessSync, constants, rmSync, statSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../errors/errors.ts'

/** Names the holder, for people and for refused processes. Hidden files are not manifests. */
const holderFile = '.depot.lock'
/** Has the lock of the system, and stays empty. */
const lockFile = '.depot.lock.db'

export interface FolderLockOptions {
  readonly dir: string
  /** Name of this process in the refusals of others, such as `depot sync`. */
  readonly program: string
  /** Called once, with the reason, when the file that names the holder is gone or names another: writing has to end. */
  readonly onLost: (why: string) => void
  /** Interval at which that file is checked, in milliseconds. Default: 5,000. */
  readonly lookMs?: number
}

/** Disposing of it releases the lock. */
export type FolderLock = AsyncDisposable

/** Another process has the lock, or this one cannot write to the folder. */
export class FolderLockError extends Error {
  override readonly name = 'FolderLockError'
  /** Whether another process has it, which may be done in a moment. */
  readonly isHeld: boolean

  constructor(message: string, { isHeld, cause }: { isHeld: boolean; cause?: unknown }) {
    super(message, { cause })
    this.isHeld = isHeld
  }
}

/** @throws FolderLockError that names the holder, or the reason why this process cannot write */
export async function lockFolder(options: FolderLockOptions): Promise<FolderLock> {
  const { dir, program, onLost, lookMs = 5_000 } = options
  const path = join(dir, holderFile)
  const lock = take(dir)
  if (lock === undefined) throw await refused(dir, path)
  const since = new Date().toISOString()
  const text = `${program}, process ${process.pid} on ${hostname()} since ${since}\n${randomUUID()}\n`
  try {
    await writeFile(path, text)
  } catch (error) {
    lock.release()
    throw notWritable(dir, error)
  }
  /** Says why the lock is lost. A disk that cannot be read for a moment does not prove that the file is gone. */
  const lossOf = () =>
    readFile(path, 'utf8').then(
      (found) => (found === text ? undefined : `another process writes to ${dir} now`),
      (error: NodeJS.ErrnoException) =>
        error.code === 'ENOENT'
          ? `${path} is missing: the folder was moved or unmounted, or somebody removed the file`
          : undefined,
    )
  let isOver = false
  const look = async () => {
    const why = await lossOf()
    if (why === undefined || isOver) return
    isOver = true
    clearInterval(timer)
    onLost(why)
  }
  const timer = setInterval(() => void look(), lookMs)
  timer.unref()
  return {
    async [Symbol.asyncDispose]() {
      isOver = true
      clearInterval(timer)
      if ((await lossOf()) === undefined) await rm(path, { force: true })
      lock.remove()
    },
  }
}

function take(dir: string): KernelLock | undefined {
  try {
    // SQLite does not say why it cannot open a file.
    accessSync(dir, constants.W_OK)
    for (;;) {
      const before = inodeOf(dir)
      const lock = KernelLock.take(dir, lockFile)
      if (lock === undefined || (before !== undefined && inodeOf(dir) === before)) return lock
      // The previous holder removed its file while this process was opening it: others find another file.
      lock.release()
    }
  } catch (error) {
    throw notWritable(dir, error)
  }
}

function inodeOf(dir: string): number | undefined {
  return statSync(join(dir, lockFile), { throwIfNoEntry: false })?.ino
}

function notWritable(dir: string, cause: unknown): FolderLockError {
  const message = `${dir} cannot be written to: ${messageOf(cause)}; let this user write there`
  return new FolderLockError(message, { isHeld: false, cause })
}

async function refused(dir: string, path: string): Promise<FolderLockError> {
  const [holder = ''] = (await readFile(path, 'utf8').catch(() => '')).split('\n')
  if (holder !== '') {
    return new FolderLockError(
      `${dir} is being written to by ${holder}: stop it, or wait for its end`,
      { isHeld: true },
    )
  }
  return new FolderLockError(
    `${dir} is locked: another process just began to write to it, or its file server has no locks; try again, or mount it with locks`,
    { isHeld: true },
  )
}

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
