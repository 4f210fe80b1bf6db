import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../pkg/base/errors/errors.ts'
import {
  type FolderLock,
  FolderLockError,
  lockFolder,
} from '../../pkg/base/folderlock/folderlock.ts'
import { OptionsError } from '../../pkg/base/options/options.ts'

const lockMs = 30_000
const lockAgainMs = 200

/**
 * Locks a folder against other programs, and waits a moment if one has the lock.
 *
 * @param stopped is aborted if the lock is lost
 * @throws RegistryError Unavailable if another process keeps the lock; OptionsError if this one cannot write there
 */
export async function folderLock(dir: string, stopped: AbortController): Promise<FolderLock> {
  const onLost = (why: string) => stopped.abort(unavailable(why))
  const untilMs = Date.now() + lockMs
  for (;;) {
    try {
      return await lockFolder({ dir, program: 'depot publish', onLost })
    } catch (error) {
      if (!(error instanceof FolderLockError)) throw error
      if (!error.isHeld) throw new OptionsError([`--manifests: ${error.message}`])
      if (Date.now() > untilMs) throw unavailable(error.message, error)
      await sleep(lockAgainMs)
    }
  }
}
