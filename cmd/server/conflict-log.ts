import type { Logger } from '../../pkg/base/telemetry/telemetry.ts'
import type { Conflict } from '../../pkg/registry/catalog/catalog.ts'

/** Objects that arrive in an unlucky order are in conflict for a moment only. */
const delayMs = 5000
/** Maximum number of lines at a time, because a folder full of copies must not fill the log. */
const maxLines = 100

/** Logs objects that are still in conflict a moment after they were reported. */
export function conflictLog(log: Logger): (conflict: Conflict) => void {
  const reported = new Map<string, Conflict>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    timer = undefined
    let lines = 0
    for (const { kind, namespace, name, unserved } of reported.values()) {
      const why = unserved()
      if (why === undefined) continue
      const { reason, message } = why
      lines += 1
      if (lines > maxLines) break
      log.warn({ kind, namespace, name, reason, message }, 'object in conflict')
    }
    if (lines > maxLines) {
      log.warn('more objects are in conflict than are logged here: see /depot/ui/v1/conflicts')
    }
    reported.clear()
  }

  return (conflict) => {
    const { kind, namespace, name } = conflict
    if (reported.size < maxReported) reported.set(`${kind} ${namespace}/${name}`, conflict)
    timer ??= setTimeout(flush, delayMs).unref()
  }
}

const maxReported = 10_000
