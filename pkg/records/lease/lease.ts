/**
 * Decides which replica may write: one holds and renews a Lease of the cluster, and stops its work before another one can get
 * it.
 */

export { LeaseElection, microTime } from './election.ts'
