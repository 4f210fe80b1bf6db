import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { RequestFacts } from '../telemetry/telemetry.ts'
import type { ReadyAnswer } from './ready-answer.ts'

/** A GET without a body, as far as ready answers depend on it. */
export interface PlainRequest {
  /** As it came: a path, perhaps with a query. */
  readonly url: string
  /** `http://depot.test:8080`, from the Host header. */
  readonly origin: string
  /** Headers of these names. */
  readonly authorization: string | undefined
  readonly ifNoneMatch: string | undefined
  /** Whether a proxy says what it was asked for, with `X-Forwarded-…`. */
  readonly isForwarded: boolean
  /** For the access log. */
  readonly facts: RequestFacts
  readonly requestId: string | undefined
  readonly traceparent: string | undefined
  readonly userAgent: string | undefined
  readonly terraformVersion: string | undefined
}

/** Finds a ready answer without waiting, or leaves the request to the app. */
export type Hot = (request: PlainRequest) => ReadyAnswer | undefined

/**
 * Reads what came over the wire in one pass; making objects of all headers costs as much as finding an answer.
 *
 * @returns undefined for whatever is not as plain as can be, which is then for the app to judge
 */
export function createPlainReader(scheme: 'http' | 'https') {
  const originOf = createOriginReader(scheme)
  return ({ method, url = '', rawHeaders }: IncomingMessage): PlainRequest | undefined => {
    if (method !== 'GET' || url[0] !== '/') return undefined
    let host: string | undefined
    let authorization: string | undefined
    let ifNoneMatch: string | undefined
    let requestId: string | undefined
    let traceparent: string | undefined
    let userAgent: string | undefined
    let terraformVersion: string | undefined
    let isForwarded = false
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const value = rawHeaders[index + 1] as string
      switch ((rawHeaders[index] as string).toLowerCase()) {
        case 'host':
          if (host !== undefined) return undefined
          host = value
          break
        case 'authorization':
          if (authorization !== undefined) return undefined
          authorization = value
          break
        case 'if-none-match':
          if (ifNoneMatch !== undefined) return undefined
          ifNoneMatch = value
          break
        case 'x-request-id':
          if (requestId !== undefined) return undefined
          requestId = value
          break
        case 'traceparent':
          if (traceparent !== undefined) return undefined
          traceparent = value
          break
        case 'user-agent':
          userAgent ??= value
          break
        case 'x-terraform-version':
          if (terraformVersion !== undefined) return undefined
          terraformVersion = value
          break
        case 'x-forwarded-host':
        case 'x-forwarded-proto':
          isForwarded = true
          break
        case 'range':
        case 'content-length':
        case 'transfer-encoding':
        case 'expect':
        case 'upgrade':
          return undefined
        default:
      }
    }
    const origin = originOf(host)
    if (origin === undefined) return undefined
    return {
      url,
      origin,
      authorization,
      ifNoneMatch,
      isForwarded,
      facts: {},
      requestId,
      traceparent,
      userAgent,
      terraformVersion,
    }
  }
}

/** Clients name a handful of hosts; an attacker may name many. */
const maxHosts = 64

/** Remembers the hosts that are plainly right. */
function createOriginReader(scheme: string): (host: string | undefined) => string | undefined {
  const known = new Map<string, string>()
  return (host = '') => {
    const origin = known.get(host)
    if (origin !== undefined) return origin
    const made = `${scheme}://${host}`
    if (!/^[a-z0-9][a-z0-9.-]*(?::[1-9]\d{0,4})?$/.test(host) || !isOrigin(made)) return undefined
    if (known.size >= maxHosts) known.clear()
    known.set(host, made)
    return made
  }
}

/** Whether a URL means itself: not so of `127.1`, nor of `http://host:80`. */
const isOrigin = (url: string): boolean => URL.canParse(url) && new URL(url).origin === url

const safeRequestId = /^[\w.:-]{1,64}$/
const [dash, zero, nine] = [0x2d, 0x30, 0x39]

/**
 * Names requests: by the client's own id where it is harmless, else by a new one. New ones share a random beginning that no
 * other process has, and are counted from there.
 */
export class RequestIds {
  /** The last new one; counted on in place, as every request has one. */
  #last = Buffer.from(`${randomBytes(9).toString('base64url')}-0`)

  textOf(own: string | undefined): string {
    return this.bytesOf(own).toString('latin1')
  }

  /** @returns what is good until the next request */
  bytesOf(own: string | undefined): Buffer {
    if (own !== undefined && safeRequestId.test(own)) return Buffer.from(own)
    for (let place = this.#last.length - 1; ; place -= 1) {
      const digit = this.#last[place] as number
      if (digit === dash) return this.#lengthen(place)
      if (digit < nine) {
        this.#last[place] = digit + 1
        return this.#last
      }
      this.#last[place] = zero
    }
  }

  /** After 99 comes 100. @param place of the dash before the digits */
  #lengthen(place: number): Buffer {
    const prefix = this.#last.subarray(0, place + 1)
    const zeros = this.#last.subarray(place + 1)
    this.#last = Buffer.concat([prefix, Buffer.from('1'), zeros])
    return this.#last
  }
}
