import { readdir, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { KernelLock } from '../../base/folderlock/folderlock.ts'
import type { JournalRecord } from './event.ts'
import { type OnDropped, Segments } from './segments.ts'

/** The journal of a process that has ended. */
export class AdoptedJournal {
  readonly id: string
  applied = 0
  readonly segments: Segments
  readonly #folder: string
  readonly #lock: KernelLock

  private constructor(folder: string, lock: KernelLock, onDropped: OnDropped) {
    this.id = basename(folder)
    this.segments = new Segments(onDropped)
    this.#folder = folder
    this.#lock = lock
  }

  /** @returns undefined if the process is running, another one took the journal over, or it is empty */
  static async open(folder: string, onDropped: OnDropped): Promise<AdoptedJournal | undefined> {
    // A process that has just created its folder may not have locked it yet.
    if (!(await readdir(folder)).some((name) => name.endsWith('.log'))) return undefined
    const lock = KernelLock.take(folder, 'lock')
    if (lock === undefined) return undefined
    const journal = new AdoptedJournal(folder, lock, onDropped)
    try {
      const files = (await readdir(folder)).filter((name) => name.endsWith('.log')).toSorted()
      for (const file of files) await journal.segments.adopt(join(folder, file))
      return journal
    } catch (error) {
      lock.release()
      throw error
    }
  }

  get pending(): number {
    return this.segments.pending(this.applied)
  }

  get oldestAt(): number | undefined {
    return this.segments.oldestAt(this.applied)
  }

  next(limit: number): Promise<JournalRecord[]> {
    return this.segments.next(this.applied, limit)
  }

  /** Removes the folder, which must not contain segments any more. */
  async remove(): Promise<void> {
    this.#lock.remove()
    await rmdir(this.#folder).catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#lock.release()
  }
}
