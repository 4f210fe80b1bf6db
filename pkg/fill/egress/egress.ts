/**
 * All requests to upstreams go through this package. It checks hosts and addresses, follows redirects safely, limits the size
 * of bodies, and obeys the rate limits of each host.
 */

export * from './client.ts'
export { EgressError } from './client.ts'
export { causeOf, explained, localNetworks, refusalOf, refusalText, shownUrl } from './hosts.ts'
export { Egress } from './open.ts'
export { lastingText } from './rate-limits.ts'
export { writeBody } from './write-body.ts'
