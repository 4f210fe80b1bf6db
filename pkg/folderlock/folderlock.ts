/**
 * Lets one process at a time write to a folder, by a file in it that says who that is. A process that ended without taking
 * it away, by a kill or a power cut, does not keep the others out.
 */
import { randomBytes } from 'node:crypto'
import { link, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../errors/errors.ts'
import { type Found, found, type Holder, holderIn, isDead, thisProcess } from './holder.ts'

/** Hidden files are no manifests. */
const fileName = '.depot.lock'
const defaultTimings = { renewMs: 5_000, staleMs: 60_000 }
/** How often others may change the lock between two looks at it. */
const mostTries = 100

export interface FolderLockOptions {
  readonly dir: string
  /** For those that are kept out, such as `depot sync`. */
  readonly program: string
  /** Called once, when another process took the lock or a person removed it: writing has to end. */
  readonly onLost: () => void
  /** How often the file is touched, and for how long a holder on another machine may not have touched it. */
  readonly timings?: Partial<typeof defaultTimings>
}

/** Disposing of it lets others in. */
export type FolderLock = AsyncDisposable

/** Another process writes to the folder, or it cannot be written to. */
class FolderLockError extends Error {
  override readonly name = 'FolderLockError'
}

/** @throws FolderLockError saying who writes to the folder, or why this process cannot */
export async function lockFolder(options: FolderLockOptions): Promise<FolderLock> {
  const { dir, program } = options
  const timings = { ...defaultTimings, ...options.timings }
  const path = join(dir, fileName)
  const self = await thisProcess()
  const token = randomBytes(8).toString('hex')
  /** No other process writes this file. */
  const mine = `${path}.${token}`
  const startedAt = new Date().toISOString()
  const text = `${JSON.stringify({ program, ...self, startedAt, token })}\n`
  try {
    await acquire(path)
  } catch (error) {
    if (error instanceof FolderLockError) throw error
    const message = `${dir} cannot be written to: ${messageOf(error)}; let this user write there`
    throw new FolderLockError(message, { cause: error })
  }

  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const renew = async () => {
    const holder = await holderIn(path).catch(() => 'unknown' as const)
    if (isOver) return
    // A disk that cannot be read for a moment is no proof that the lock is gone.
    if (holder !== 'unknown' && holder?.token !== token) {
      isOver = true
      options.onLost()
      return
    }
    await utimes(path, new Date(), new Date()).catch(() => undefined)
    schedule()
  }
  const schedule = () => {
    timer = globalThis.setTimeout(() => void renew(), timings.renewMs)
    timer.unref()
  }
  schedule()
  return {
    async [Symbol.asyncDispose]() {
      isOver = true
      clearTimeout(timer)
      const holder = await holderIn(path).catch(() => undefined)
      if (holder?.token === token) await rm(path, { force: true })
    },
  }

  async function acquire(at: string): Promise<void> {
    for (let tries = 0; tries < mostTries; tries += 1) {
      if (await create(at)) return
      const before = await found(at)
      if (before === undefined) continue
      const { holder } = before
      if (holder !== undefined && !(await isGone(at, holder))) throw refused(dir, holder)
      await clear(at, before)
    }
    throw refused(dir, undefined)
  }

  /**
   * Takes away what a dead holder left. Only who has the lock of that one holder may do so: one that judged late finds
   * that the file is another one by then, and leaves it.
   */
  async function clear(at: string, { text: left, holder }: Found): Promise<void> {
    const next = `${at}.${holder?.token ?? 'unreadable'}.next`
    await acquire(next)
    try {
      if ((await found(at))?.text === left) await rm(at, { force: true })
    } finally {
      await rm(next, { force: true })
    }
  }

  /** Makes the file with its text in it at once, so that no other process finds it empty. */
  async function create(at: string): Promise<boolean> {
    await writeFile(mine, text)
    try {
      await link(mine, at).catch((error: unknown) => {
        if (!noLinks.has(codeOf(error))) throw error
        return writeFile(at, text, { flag: 'wx' })
      })
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw error
    } finally {
      await rm(mine, { force: true })
    }
  }

  async function isGone(at: string, holder: Holder): Promise<boolean> {
    return (await isDead(holder, self)) ?? (await untouchedMs(at)) > timings.staleMs
  }

  /** By the clock of the file system alone, which may be another machine's. */
  async function untouchedMs(at: string): Promise<number> {
    await writeFile(mine, '')
    try {
      const now = await stat(mine)
      const held = await stat(at).catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error
      })
      // Given back in this moment.
      return held === undefined ? Infinity : now.mtimeMs - held.mtimeMs
    } finally {
      await rm(mine, { force: true })
    }
  }
}

/** Of file systems that know no second name of a file. */
const noLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code)
}

function refused(dir: string, holder: Holder | undefined): FolderLockError {
  if (holder === undefined)
    return new FolderLockError(`another process just began to write to ${dir}`)
  const { program, pid, host, startedAt } = holder
  const hint = 'stop it, or wait for its end; one that was killed is noticed within a minute'
  const who = `${program}, process ${pid} on ${host} since ${startedAt}`
  return new FolderLockError(`${dir} is being written to by ${who}: ${hint}`)
}
