/**
 * Which replica may write: one holds a Lease of the cluster and renews it, and gives up its work before another one can have
 * it.
 */

export { LeaseElection } from './election.ts'
export { microTime } from './record.ts'
