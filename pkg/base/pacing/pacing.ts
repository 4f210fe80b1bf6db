/**
 * Timing of work: waits after failures, long work in turns, loops, limits, and work that several callers share.
 */

export { Backoff, backoffMs, type Random } from './backoff.ts'
export { endsWithin, withDeadline } from './deadline.ts'
export { eachLimited } from './each-limited.ts'
export { createFairLimiter, createLimiter } from './limiter.ts'
export { Loop } from './loop.ts'
export { pause } from './pause.ts'
export { SingleFlight } from './single-flight.ts'
export { Turns } from './turns.ts'

/** The time, in milliseconds since 1970. */
export type Clock = () => number
