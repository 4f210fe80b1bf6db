/**
 * Outgoing HTTP: pools of connections that are renewed when trust changes and that say when they are busy, proxies from the
 * environment, bodies with a bound, and `Retry-After`. One package, not one client: each caller opens a pool of its own.
 */

export { discard, readBounded } from './bodies.ts'
export * from './pool.ts'
export { type ProxyRules, proxyRules } from './proxy-rules.ts'
export { retryAfterMs } from './retry-after.ts'
export { saidBy } from './said.ts'
