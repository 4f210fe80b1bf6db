import { readdir, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { KernelLock } from '../../base/folderlock/folderlock.ts'
import type { JournalRecord } from './event.ts'
import type { Journal } from './journal.ts'
import { type OnDropped, Segments } from './segments.ts'

export interface JournalsOptions {
  /** Contains a folder for each journal. */
  readonly dir: string
  readonly own: Journal
  /** Limit of bytes on disk, all journals together. */
  readonly maxBytes: number
  readonly onDropped: OnDropped
  /** Called with a journal that was taken over, and its number of events. */
  readonly onAdopted: (journal: string, events: number) => void
}

const dayMs = 86_400_000

/** How long applied events stay on disk, in milliseconds. A store that lost its latest state in a crash gets them again. */
const keepAppliedMs = 3_600_000

/** Stores forget a journal after 90 days. Older events might be counted already. */
const keepMs = 60 * dayMs

/** The journal of this process, and those of ended processes in the same folder. */
export class Journals {
  readonly #options: JournalsOptions
  #adopted: AdoptedJournal[] = []

  constructor(options: JournalsOptions) {
    this.#options = options
  }

  get all(): readonly (Journal | AdoptedJournal)[] {
    return [...this.#adopted, this.#options.own]
  }

  /** Registers a function that is called whenever this process has new events. */
  announceTo(onEvents: () => void): void {
    this.#options.own.announceTo(onEvents)
  }

  get pending(): number {
    return this.all.reduce((sum, { pending }) => sum + pending, 0)
  }

  /** Time of the oldest pending event, in milliseconds since 1970. */
  get oldestAt(): number | undefined {
    const times = this.all.flatMap(({ oldestAt }) => oldestAt ?? [])
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** Takes over journals of ended processes. An unreadable folder is tried again the next time. */
  async adopt(): Promise<void> {
    const { dir, onDropped, onAdopted } = this.#options
    const mine = new Set(this.all.map(({ id }) => id))
    for (const name of await readdir(dir).catch(() => [])) {
      if (mine.has(name)) continue
      const journal = await AdoptedJournal.open(join(dir, name), onDropped).catch(() => undefined)
      if (journal === undefined) continue
      this.#adopted.push(journal)
      onAdopted(journal.id, journal.pending)
    }
  }

  /** Removes files that are no longer needed, and the oldest ones if there is too much. */
  async trim(now: number): Promise<void> {
    const before = { applied: now - keepAppliedMs, any: now - keepMs }
    for (const { segments, applied } of this.all) await segments.trim(applied, before)
    let sizeBytes = this.all.reduce((sum, { segments }) => sum + segments.sizeBytes, 0)
    for (const { segments, applied } of this.all) {
      while (sizeBytes > this.#options.maxBytes && !segments.isEmpty && !segments.isOldestOpen) {
        sizeBytes -= segments.sizeBytes
        await segments.dropOldest(applied, 'QueueFull')
        sizeBytes += segments.sizeBytes
      }
    }
    for (const journal of this.#adopted.filter(({ segments }) => segments.isEmpty)) {
      await journal.remove()
      this.#adopted = this.#adopted.filter((other) => other !== journal)
    }
  }

  async close(): Promise<void> {
    for (const journal of this.all) await journal.close()
  }
}

/** The journal of a process that has ended. */
class AdoptedJournal {
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
