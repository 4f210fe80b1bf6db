/**
 * Timing of work: waits after failures, long work in turns, loops, limits, and work that several callers share.
 */

export { eachLimited } from './each-limited.ts'
export { createFairLimiter, createLimiter } from './limiter.ts'
export { Loop } from './loop.ts'
export { SingleFlight } from './single-flight.ts'
export { Turns } from './turns.ts'
export { Backoff, backoffMs, endsWithin, pause, type Random, withDeadline } from './waits.ts'

/** The time, in milliseconds since 1970. */
export type Clock = () => number
