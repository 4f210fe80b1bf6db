import type { Reason } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { conditionTrue } from '../conditions.ts'
import { type Context, refOf } from '../context.ts'
import { writeStatus } from '../status.ts'
import type { VersionStatus } from './work.ts'

export interface Progress {
  /** Reports that the spool has no room. */
  readonly waiting: () => void
  /** Resolves when all writes have ended. */
  readonly end: () => Promise<void>
}

/** Reports in the status that a fetch is going on. */
export function progressOf(context: Context, object: StoredObject): Progress {
  let writing = Promise.resolve()
  const tell = (reason: Reason, message: string) => {
    writing = write(writing, reason, message)
  }
  const write = async (before: Promise<void>, reason: Reason, message: string) => {
    await before
    const { kind, namespace, name } = refOf(object)
    const current = context.objects.get(kind, namespace, name)
    if (current === undefined) return
    try {
      await writeStatus<VersionStatus>(context, current, (status) => ({
        fields: { syncStatus: status?.synced === true ? 'Synced' : 'Fetching' },
        conditions: { Reconciling: conditionTrue(reason, message) },
        isProgress: true,
      }))
    } catch (error) {
      context.log.info({ key: name, err: error }, 'progress was not written')
    }
  }
  const timer = setTimeout(
    () => tell('Progressing', 'the archive is being fetched'),
    context.timings.progressMs,
  )
  return {
    waiting: () => tell('WaitingForSpool', 'waits for room in the spool'),
    end: async () => {
      clearTimeout(timer)
      await writing
    },
  }
}
