export { createLogger, type Logger, lineWriter } from './log.ts'
export {
  counter,
  createMetrics,
  gauge,
  histogram,
  type Metrics,
  type Series,
  seriesHistogram,
} from './metrics.ts'
export type { RequestFacts } from './request-facts.ts'
