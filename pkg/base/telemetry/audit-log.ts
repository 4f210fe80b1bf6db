import { pino } from 'pino'
import { createLogger, type Logger } from './log.ts'
import { counter, type Metrics } from './metrics.ts'

/** A request for an archive and its outcome. */
interface AuditRecord {
  readonly requestId: string
  readonly outcome:
    | 'served'
    | 'redirected'
    | 'unchanged'
    | 'refused'
    | 'not found'
    | 'failed'
    | 'aborted'
  readonly status: number
  /** `sub` of the caller's token; undefined if the registry does not know it. */
  readonly subject: string | undefined
  /** Distinguishes callers without a subject, as in the access log. */
  readonly callerHash: string | undefined
  /** The caller's view: `all`, `public`, `binding NAME` or `cluster`. */
  readonly view: string | undefined
  readonly remoteAddr: string | undefined
  readonly route: string
  readonly kind: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly version: string | undefined
  /** Path of the request without its query; it contains the platform or the file name. */
  readonly path: string
}

export interface AuditLog {
  write(record: AuditRecord): void
  /** Writes the remaining lines and closes the file. */
  close(): void
}

export interface AuditLogOptions {
  /** A file, which is appended to and readable by this user only, or `-` for standard output. */
  readonly path: string
  /** Called with lines that could not be written. */
  readonly log: Logger
  readonly metrics: Metrics
}

/** Minimum interval of such reports, in milliseconds: a full disk fails for each line. */
const complaintMs = 10_000

/**
 * Opens the audit log: JSON lines, separate from the process's log. SIGHUP reopens the file, for tools that rotate it.
 *
 * @throws the error of the file system if the file cannot be opened
 */
export function openAuditLog({ path, log, metrics }: AuditLogOptions): AuditLog {
  if (path === '-') {
    const lines = createLogger('info')
    return { write: (record) => lines.info(record, 'audit'), close: () => undefined }
  }
  const lost = counter(metrics, {
    name: 'audit_lines_lost_total',
    help: 'Lines of the audit log that could not be written.',
  })
  const file = pino.destination({ dest: path, append: true, mkdir: true, mode: 0o600, sync: true })
  let complainedAt = Number.NEGATIVE_INFINITY
  file.on('error', (err: unknown) => {
    lost.inc()
    if (performance.now() - complainedAt < complaintMs) return
    complainedAt = performance.now()
    log.error({ err, path }, 'audit log cannot be written')
  })
  const reopen = () => file.reopen()
  process.on('SIGHUP', reopen)
  const lines = createLogger('info', file)
  return {
    write: (record) => lines.info(record, 'audit'),
    close: () => {
      process.off('SIGHUP', reopen)
      file.end()
    },
  }
}
