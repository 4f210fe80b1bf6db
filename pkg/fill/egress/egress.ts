/**
 * The only way out to an upstream: which hosts may be asked, which addresses may be connected to, redirects that are
 * followed with care, bodies with a bound, and the patience that each host asks for.
 */
export {
  type Credential,
  type DownloadedFile,
  type Egress,
  type EgressAnswer,
  type EgressOptions,
  type EgressPolicy,
  type EgressRequest,
} from './client.ts'
export { EgressError, RateLimitedError, StatusError } from './errors.ts'
export { openEgress } from './open.ts'
export { causeOf, printable, shownUrl } from './printable.ts'
export { writeBody } from './write-body.ts'
