/**
 * Timing of work: waits after failures, long work in turns, loops, limits, and work that several callers share.
 */

export { eachLimited, SingleFlight, Slots } from './limiter.ts'
export * from './waits.ts'

/** The time, in milliseconds since 1970. */
export type Clock = () => number
