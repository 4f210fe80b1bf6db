import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { CappedMap } from '../memory/memory.ts'
import type { RequestFacts } from '../telemetry/telemetry.ts'
import type { ReadyAnswer } from './ready-answer.ts'

/** A GET without a body, as far as ready answers depend on it. */
export interface PlainRequest {
  /** Path and query as the client sent them. */
  readonly url: string
  /** `http://depot.test:8080`, from the Host header. */
  readonly origin: string
  /** Headers of these names. */
  readonly authorization: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly acceptEncoding: string | undefined
  /** True if a proxy sent `X-Forwarded-Host` or `X-Forwarded-Proto`. */
  readonly isForwarded: boolean
  /** For the access log. */
  readonly facts: RequestFacts
}

/** Finds a ready answer without waiting, or leaves the request to the app. */
export type Hot = (request: PlainRequest) => ReadyAnswer | undefined

/** True if a request has a header that only the app can handle. */
const isForApp = (headers: IncomingHttpHeaders): boolean =>
  headers.range !== undefined ||
  headers['content-length'] !== undefined ||
  headers['transfer-encoding'] !== undefined ||
  headers.expect !== undefined ||
  headers.upgrade !== undefined

/** @returns a function that returns undefined for requests that only the app can judge */
export function createPlainReader(scheme: 'http' | 'https') {
  const originOf = createOriginReader(scheme)
  return ({ method, url = '', headers, rawHeaders }: IncomingMessage): PlainRequest | undefined => {
    if (method !== 'GET' || url[0] !== '/') return undefined
    // Otherwise a header was repeated, and Node has dropped or joined it.
    if (Object.keys(headers).length * 2 !== rawHeaders.length) return undefined
    if (isForApp(headers)) return undefined
    const origin = originOf(headers.host)
    if (origin === undefined) return undefined
    return {
      url,
      origin,
      authorization: headers.authorization,
      ifNoneMatch: headers['if-none-match'],
      acceptEncoding: headers['accept-encoding'],
      isForwarded:
        headers['x-forwarded-host'] !== undefined || headers['x-forwarded-proto'] !== undefined,
      facts: {},
    }
  }
}

/** Limit of known hosts: clients use a few, an attacker may use many. */
const maxHosts = 64

/** Remembers valid hosts. */
function createOriginReader(scheme: string): (host: string | undefined) => string | undefined {
  const known = new CappedMap<string, string>(maxHosts)
  return (host = '') => {
    const origin = known.get(host)
    if (origin !== undefined) return origin
    const made = `${scheme}://${host}`
    if (!/^[a-z0-9][a-z0-9.-]*(?::[1-9]\d{0,4})?$/.test(host) || !isOrigin(made)) return undefined
    known.set(host, made)
    return made
  }
}

/** True if the URL is its own origin: `127.1` and `http://host:80` are not. */
const isOrigin = (url: string): boolean => URL.canParse(url) && new URL(url).origin === url

const safeId = /^[\w.:-]{1,64}$/

/**
 * Chooses the id of a request: the client's own if it is harmless, otherwise a new one. New ids have a random prefix that no
 * other process has, and a counter.
 */
export function createRequestIds(): (own: string | undefined) => string {
  const prefix = randomBytes(9).toString('base64url')
  let last = 0
  return (own) => {
    if (own !== undefined && safeId.test(own)) return own
    last += 1
    return `${prefix}-${last}`
  }
}
