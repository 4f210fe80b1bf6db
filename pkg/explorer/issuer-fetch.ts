import type { CustomFetch } from 'openid-client'
import { externalFrom } from './external.ts'
import { textOf, type Upstream } from './upstream.ts'

export interface IssuerFetchOptions {
  readonly issuerUrl: string
  /** Origin of the explorer; undefined if it is not configured. */
  readonly baseUrl: string | undefined
  /** The server, which forwards `/broker/*`. */
  readonly server: Upstream
  /** The broker itself, if it can be reached inside the cluster. */
  readonly broker: Upstream | undefined
}

/** Much larger than discovery documents, keys and tokens. */
const largestBytes = 1024 * 1024
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * Sends requests to the issuer. An issuer at the explorer's own address is reached inside the cluster instead of through the
 * ingress, but with its external host name.
 */
export function issuerFetch(options: IssuerFetchOptions): CustomFetch {
  const { issuerUrl, baseUrl, server, broker } = options
  const { origin } = new URL(issuerUrl)
  const inside = broker ?? (origin === baseUrl ? server : undefined)
  return (url, init) => {
    const target = new URL(url)
    if (inside === undefined || target.origin !== origin) return fetch(url, init as RequestInit)
    return fetchInside(inside, target, init)
  }
}

type Init = Parameters<CustomFetch>[1]

async function fetchInside(inside: Upstream, target: URL, init: Init): Promise<Response> {
  const { method, headers, body, signal } = init
  const answer = await inside.ask(externalFrom(target), {
    method: method === 'POST' ? 'POST' : 'GET',
    path: target.pathname + target.search,
    headers,
    body: typeof body === 'string' || body instanceof URLSearchParams ? body.toString() : undefined,
    signal,
  })
  const text = await textOf(answer, largestBytes)
  return new Response(withoutBody.has(answer.status) ? null : text, {
    status: answer.status,
    headers: { 'Content-Type': answer.header('content-type') ?? 'application/octet-stream' },
  })
}
