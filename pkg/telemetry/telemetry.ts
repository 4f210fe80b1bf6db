export { createLogger, type Logger } from './log.ts'
export { counter, createMetrics, gauge, histogram, type Metrics } from './metrics.ts'
export type { RequestFacts } from './request-facts.ts'
