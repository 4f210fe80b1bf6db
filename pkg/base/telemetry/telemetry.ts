/**
 * Logs and metrics: how lines are written, the audit log, and helpers to declare a metric. Each package declares its own
 * metrics; those that two sources share are here.
 */

export { type AuditLog, openAuditLog } from './audit-log.ts'
export { createLogger, type Logger, outputOf } from './log.ts'
export { eachMillisecond, flushLogs, logOutput } from './log-output.ts'
export * from './metrics.ts'
export { readableLine } from './readable-line.ts'
export type { RequestFacts } from './request-facts.ts'
export * from './source-metrics.ts'
