import { RegistryError } from '../base/errors/errors.ts'
import { discard } from '../base/http/http.ts'
import { browsePathOf } from './api.ts'
import type { Prime } from './boot.ts'
import { type ExplorerContext, remoteAddressOf } from './request.ts'
import { textOf, type Upstream } from './upstream.ts'

/** A larger answer is left for the page to ask for. */
const largestBytes = 1024 * 1024
/** What the page can start from. */
const useful: ReadonlySet<number> = new Set([200, 400, 401, 403, 404])

/** How a server, or what stands before it, says that it cannot answer now. */
const away: ReadonlySet<number> = new Set([502, 503, 504])

/**
 * What the page's first request would be answered: `late` leaves it to the page, as do all other errors, `away` is for the
 * page to say.
 */
export type Primed =
  | { readonly kind: 'answer'; readonly prime: Prime }
  | { readonly kind: 'late' | 'away' | 'none' }

/**
 * Asks the server what the page will ask first, so that the page need not.
 *
 * @param key the page's own URL of that request; undefined where it has none
 * @param token in whose name
 * @param waitMs after which it is left to the page
 */
export async function fetchPrime(
  c: ExplorerContext,
  upstream: Upstream,
  key: string | undefined,
  token: string | undefined,
  waitMs: number,
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
      return { kind: away.has(status) ? 'away' : 'late' }
    }
    const text = await textOf(answer, largestBytes)
    return { kind: 'answer', prime: { key, status, body: JSON.parse(text) } }
  } catch (error) {
    const isThere = deadline.aborted || error instanceof SyntaxError || isTooLarge(error)
    return { kind: isThere ? 'late' : 'away' }
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof RegistryError && error.reason === 'TooLarge'
}
