import { RegistryError } from '../base/errors/errors.ts'
import { discard, readBounded } from '../base/http/http.ts'
import { browsePathOf } from './api.ts'
import type { Prime } from './boot.ts'
import { type ExplorerContext, remoteAddressOf } from './request.ts'
import type { Upstream } from './upstream.ts'

/** The page requests a larger answer itself. */
const largestBytes = 1024 * 1024
/** Statuses of answers that the page can start from. */
const useful: ReadonlySet<number> = new Set([200, 400, 401, 403, 404])

/** Statuses with which a server, or a proxy in front of it, says that it is unavailable. */
const unavailable: ReadonlySet<number> = new Set([502, 503, 504])

/**
 * The answer to the page's first request. After `late`, the page sends the request. After `unavailable`, it says that the
 * registry is unavailable.
 */
export type Primed =
  | { readonly kind: 'answer'; readonly prime: Prime }
  | { readonly kind: 'late' | 'unavailable' | 'none' }

export interface PrimeRequest {
  /** The page's URL for the request; undefined if the page has none. */
  readonly key: string | undefined
  /** Token of the caller. */
  readonly token: string | undefined
  /** How long to wait. After that, the page has to send the request. */
  readonly waitMs: number
}

/** Sends the page's first request for it, so that the page need not wait for a second round trip. */
export async function fetchPrime(
  c: ExplorerContext,
  upstream: Upstream,
  { key, token, waitMs }: PrimeRequest,
): Promise<Primed> {
  if (key === undefined) return { kind: 'none' }
  const { pathname, search } = new URL(key, c.var.external.origin)
  const remoteAddress = remoteAddressOf(c)
  const deadline = AbortSignal.timeout(waitMs)
  try {
    const answer = await upstream.ask(c.var.external, {
      method: 'GET',
      path: browsePathOf(pathname + search),
      headers: {
        accept: 'application/json',
        ...(remoteAddress !== undefined && { 'x-forwarded-for': remoteAddress }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      signal: AbortSignal.any([c.req.raw.signal, deadline]),
    })
    const { status } = answer
    if (!useful.has(status)) {
      discard(answer.body)
      return { kind: unavailable.has(status) ? 'unavailable' : 'late' }
    }
    const text = await readBounded(answer.body, largestBytes)
    return { kind: 'answer', prime: { key, status, body: JSON.parse(text.toString()) } }
  } catch (error) {
    const isThere = deadline.aborted || error instanceof SyntaxError || isTooLarge(error)
    return { kind: isThere ? 'late' : 'unavailable' }
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof RegistryError && error.reason === 'TooLarge'
}
