/**
 * Lets one process at a time write to a folder, by a file in it that says who that is. A process that ended without taking
 * it away, by a kill or a power cut, keeps the others out for two minutes at most.
 */
import { rm } from 'node:fs/promises'
import { messageOf } from '../../base/errors/errors.ts'
import { holderIn, thisProcess } from './holder.ts'
import { FolderLockError, LockFile } from './lock-file.ts'

const defaultTimings = { renewMs: 5_000, staleMs: 60_000 }

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

/** @throws FolderLockError saying who writes to the folder, or why this process cannot */
export async function lockFolder(options: FolderLockOptions): Promise<FolderLock> {
  const { dir, program } = options
  const timings = { ...defaultTimings, ...options.timings }
  const self = await thisProcess()
  const file = new LockFile({ dir, program, self, ...timings })
  const { path, token } = file
  try {
    await file.acquire()
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
    await file.touch().catch(() => undefined)
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
}
