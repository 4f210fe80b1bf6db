import { SendableBody } from '../fast/fast.ts'
import type { RequestFacts } from '../telemetry/telemetry.ts'
import { matchesEtag } from './routes.ts'

/**
 * A complete answer with status 200, which is sent until its records change. Its owner knows when it is out of date.
 */
export class ReadyAnswer {
  readonly sendable: SendableBody
  /** Includes its quotes. Without it, conditional requests get the whole answer. */
  readonly etag: string | undefined
  /** For the access log. */
  readonly facts: RequestFacts & { readonly route: string }
  /** The part of its log line that is the same for one URL. */
  logged: { readonly url: string; readonly status: number; readonly fields: string } | undefined
  readonly #headers: Readonly<Record<string, string>>
  #lines: string | undefined

  /**
   * @param content text and bytes are copied
   * @param headers except `ETag` and `Content-Length`; answers may share one object
   */
  constructor(
    content: string | Uint8Array | SendableBody,
    headers: Readonly<Record<string, string>>,
    facts: ReadyAnswer['facts'],
    etag?: string,
  ) {
    this.sendable = content instanceof SendableBody ? content : SendableBody.copyOf(content)
    this.etag = etag
    this.facts = facts
    this.#headers = headers
  }

  get body(): Buffer<ArrayBuffer> {
    return this.sendable.bytes ?? this.sendable.copied()
  }

  /** The same answer in another encoding, with an ETag of its own. */
  encoded(encoding: string, body: Uint8Array): ReadyAnswer {
    const headers = { ...this.#headers, 'Content-Encoding': encoding }
    const etag = this.etag?.replace(/"$/, `-${encoding}"`)
    return new ReadyAnswer(body, headers, this.facts, etag)
  }

  /** True if the client already has it. @param ifNoneMatch the header of that name */
  isKnownBy(ifNoneMatch: string | undefined): boolean {
    return this.etag !== undefined && matchesEtag(ifNoneMatch, this.etag)
  }

  /** @param isKnown true if the client already has it and gets no body */
  headers(isKnown: boolean): Record<string, string> {
    return {
      ...this.#headers,
      ...(this.etag !== undefined && { ETag: this.etag }),
      ...(!isKnown && { 'Content-Length': String(this.sendable.length) }),
    }
  }

  /** The headers as lines of HTTP/1.1. */
  headerLines(isKnown: boolean): string {
    if (isKnown) return linesOf(this.headers(true))
    this.#lines ??= linesOf(this.headers(false))
    return this.#lines
  }

  /** @param ifNoneMatch the header of that name */
  toResponse(ifNoneMatch?: string): Response {
    const isKnown = this.isKnownBy(ifNoneMatch)
    const headers = this.headers(isKnown)
    return isKnown
      ? new Response(null, { status: 304, headers })
      : new Response(this.body, { headers })
  }
}

function linesOf(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}
