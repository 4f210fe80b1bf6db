import { randomBytes } from 'node:crypto'
import { link, open, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Found, found, type Holder, isDead, type thisProcess } from './holder.ts'

/** Hidden files are no manifests. */
const fileName = '.depot.lock'
/** How often others may change the lock between two looks at it. */
const mostTries = 100

export interface LockFileOptions {
  readonly dir: string
  /** For those that are kept out. */
  readonly program: string
  readonly self: Awaited<ReturnType<typeof thisProcess>>
  /** For how long a holder on another machine, or one that it does not name yet, may not have touched it. */
  readonly staleMs: number
  /** How often its holder touches it. */
  readonly renewMs: number
}

/** Another process writes to the folder, or it cannot be written to. */
export class FolderLockError extends Error {
  override readonly name = 'FolderLockError'
}

/** The file in a folder that says who may write there. */
export class LockFile {
  readonly path: string
  /** Tells this lock from all others. */
  readonly token = randomBytes(8).toString('hex')
  readonly #options: LockFileOptions
  /** No other process writes this file. */
  readonly #mine: string
  readonly #text: string

  constructor(options: LockFileOptions) {
    const { dir, program, self } = options
    this.#options = options
    this.path = join(dir, fileName)
    this.#mine = `${this.path}.${this.token}`
    const startedAt = new Date().toISOString()
    this.#text = `${JSON.stringify({ program, ...self, startedAt, token: this.token })}\n`
  }

  /** @throws FolderLockError saying who has it; the error of the file system */
  acquire(): Promise<void> {
    return this.#acquire(this.path)
  }

  /** By writing what is there: the time is that of the file system then, as it is for those who look. */
  async touch(): Promise<void> {
    const file = await open(this.path, 'r+')
    try {
      await file.write(this.#text.slice(0, 1), 0)
    } finally {
      await file.close()
    }
  }

  async #acquire(at: string): Promise<void> {
    const { dir } = this.#options
    for (let tries = 0; tries < mostTries; tries += 1) {
      if (await this.#create(at)) return
      const before = await found(at)
      if (before === undefined) continue
      if (!(await this.#isGone(at, before))) throw refused(dir, before.holder)
      await this.#clear(at, before)
    }
    throw refused(dir, undefined)
  }

  /**
   * Takes away what a dead holder left. Only who has the lock of that one holder may do so: one that judged late finds
   * that the file is another one by then, and leaves it.
   */
  async #clear(at: string, { text: left, holder }: Found): Promise<void> {
    const next = `${at}.${holder?.token ?? 'unreadable'}.next`
    await this.#acquire(next)
    try {
      const now = await found(at)
      // An empty file may be another one than that which was judged.
      if (now?.text === left && (await this.#isGone(at, now))) await rm(at, { force: true })
    } finally {
      await rm(next, { force: true })
    }
  }

  /**
   * Makes the file with its text in it at once, so that no other process finds it empty. Where the file system has no links
   * one may, which is why an empty file keeps others out while it is young.
   */
  async #create(at: string): Promise<boolean> {
    await writeFile(this.#mine, this.#text)
    try {
      await link(this.#mine, at).catch((error: unknown) => {
        if (!noLinks.has(codeOf(error))) throw error
        return writeFile(at, this.#text, { flag: 'wx' })
      })
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw error
    } finally {
      await rm(this.#mine, { force: true })
    }
  }

  async #isGone(at: string, { holder }: Found): Promise<boolean> {
    const { self, staleMs, renewMs } = this.#options
    const dead = holder && (await isDead(holder, self))
    if (dead !== undefined) return dead
    const { untouchedMs, touchedMs } = await this.#lastTouch(at)
    if (untouchedMs >= -staleMs) return untouchedMs > staleMs
    // Of the future: a clock is ahead, or was. Nobody is about to write into an empty one; who holds it touches it again.
    if (holder === undefined) return true
    await sleep(2 * renewMs)
    const later = await this.#lastTouch(at)
    return later.touchedMs === touchedMs || later.untouchedMs === Infinity
  }

  /** By the clock of the file system alone, which may be another machine's. Untouched for ever is what is not there. */
  async #lastTouch(at: string): Promise<{ readonly untouchedMs: number; touchedMs?: number }> {
    await writeFile(this.#mine, '')
    try {
      const now = await stat(this.#mine)
      const held = await stat(at).catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error
      })
      if (held === undefined) return { untouchedMs: Infinity }
      return { untouchedMs: now.mtimeMs - held.mtimeMs, touchedMs: held.mtimeMs }
    } finally {
      await rm(this.#mine, { force: true })
    }
  }
}

/** Of file systems that know no second name of a file. */
const noLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code)
}

function refused(dir: string, holder: Holder | undefined): FolderLockError {
  if (holder === undefined) {
    const hint = 'try again in a minute'
    return new FolderLockError(`another process just began to write to ${dir}: ${hint}`)
  }
  const { program, pid, host, startedAt } = holder
  const hint = 'stop it, or wait for its end; one that was killed is noticed within a minute'
  const who = `${program}, process ${pid} on ${host} since ${startedAt}`
  return new FolderLockError(`${dir} is being written to by ${who}: ${hint}`)
}
