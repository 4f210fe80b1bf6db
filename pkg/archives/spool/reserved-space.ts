import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ReasonError } from '../../base/errors/errors.ts'

export interface SpoolOptions {
  /** Created if missing. Files of ended processes are removed. */
  readonly dir: string
  /** Limit of all files together. */
  readonly sizeBytes: number
}

/** Space for one file, which does not exist yet. */
export interface SpoolFile {
  readonly path: string
  readonly reservedBytes: number
  /** Returns the space that the file does not need. */
  shrink(bytes: number): void
  /** Removes the file and returns its space. May be called twice. */
  remove(): Promise<void>
}

/** @throws Error if the folder cannot be created or written */
export async function openSpool({ dir, sizeBytes }: SpoolOptions): Promise<Spool> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  await removeLeftOvers(dir)
  return new ReservedSpool(await mkdtemp(join(dir, `${prefix}${process.pid}-`)), sizeBytes)
}

const prefix = 'fetch-'

/** The first process in a container has the id 1, so a folder with our own id belongs to a previous process. */
async function removeLeftOvers(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    const [, pid] = /^fetch-(\d+)-/.exec(name) ?? []
    if (pid === undefined || isOtherProcess(Number(pid))) continue
    await rm(join(dir, name), { recursive: true, force: true })
  }
}

/** Open spools of this process. */
const own = new Set<string>()

function isOtherProcess(pid: number): boolean {
  if (pid === process.pid) return own.size > 0
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM'
  }
}

interface Waiter {
  readonly bytes: number
  readonly go: () => void
}

export type Spool = Pick<ReservedSpool, keyof ReservedSpool>

/** A folder for temporary files. Space is reserved before anything is written. */
class ReservedSpool {
  readonly sizeBytes: number
  readonly #dir: string
  readonly #waiting: Waiter[] = []
  readonly #listeners = new Set<() => void>()
  #reservedBytes = 0

  constructor(dir: string, sizeBytes: number) {
    this.#dir = dir
    this.sizeBytes = sizeBytes
    own.add(dir)
  }

  /** Space that is reserved now. */
  get reservedBytes(): number {
    return this.#reservedBytes
  }

  /** Number of waiting reservations. */
  get waiting(): number {
    return this.#waiting.length
  }

  /**
   * Calls the listener whenever a reservation has to wait, so that files that can be fetched again can be removed.
   *
   * @returns a function that removes the listener
   */
  onFull(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Waits for space, in order of arrival. A file that is small compared with an archive reserves 0 bytes and never waits.
   * Otherwise, a process that keeps an archive could wait for itself.
   *
   * @param options.onWaiting called once if there is no space now
   * @throws ReasonError ArchiveTooLarge if it can never fit; the reason of the signal if that ends the wait
   */
  async reserve(
    bytes: number,
    { signal, onWaiting }: { signal: AbortSignal; onWaiting?: (() => void) | undefined },
  ): Promise<SpoolFile> {
    signal.throwIfAborted()
    if (bytes > this.sizeBytes) {
      throw new ReasonError(
        'ArchiveTooLarge',
        `the spool has ${this.sizeBytes} bytes and this needs ${bytes}: raise --spool-size`,
      )
    }
    const isFull = this.#waiting.length > 0 || this.#reservedBytes + bytes > this.sizeBytes
    if (bytes > 0 && isFull) {
      const turn = this.#wait(bytes, signal)
      onWaiting?.()
      for (const listener of this.#listeners) listener()
      await turn
    } else {
      this.#reservedBytes += bytes
    }
    return this.#file(bytes)
  }

  /** Removes everything. */
  async close(): Promise<void> {
    own.delete(this.#dir)
    await rm(this.#dir, { recursive: true, force: true })
  }

  #file(bytes: number): SpoolFile {
    const path = join(this.#dir, randomBytes(12).toString('hex'))
    let held = bytes
    const keep = (wanted: number) => {
      const given = Math.max(0, held - wanted)
      held -= given
      this.#giveBack(given)
    }
    return {
      path,
      get reservedBytes() {
        return held
      },
      shrink: keep,
      remove: async () => {
        await rm(path, { recursive: true, force: true })
        keep(0)
      },
    }
  }

  async #wait(bytes: number, signal: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>()
    const waiter: Waiter = { bytes, go: turn.resolve }
    const leave = () => {
      const place = this.#waiting.indexOf(waiter)
      if (place === -1) return
      this.#waiting.splice(place, 1)
      turn.reject(signal.reason)
      this.#giveBack(0)
    }
    this.#waiting.push(waiter)
    signal.addEventListener('abort', leave, { once: true })
    try {
      await turn.promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Continues the reservations that have waited longest, as far as there is space. */
  #giveBack(bytes: number): void {
    this.#reservedBytes -= bytes
    for (;;) {
      const [next] = this.#waiting
      if (next === undefined || this.#reservedBytes + next.bytes > this.sizeBytes) return
      this.#waiting.shift()
      this.#reservedBytes += next.bytes
      next.go()
    }
  }
}
