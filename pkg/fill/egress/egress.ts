/**
 * All requests to upstreams go through this package. It checks hosts and addresses, follows redirects safely, limits the size
 * of bodies, and obeys the rate limits of each host.
 */
export { localNetworks } from './addresses.ts'
export * from './client.ts'
export { EgressError } from './errors.ts'
export { refusalOf } from './hosts.ts'
export { Egress } from './open.ts'
export { lastingText } from './rate-limits.ts'
export { causeOf, explained, refusalText, shownUrl } from './shown.ts'
export { writeBody } from './write-body.ts'
