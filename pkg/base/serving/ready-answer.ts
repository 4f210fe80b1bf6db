import { keptBytes, type Room, roomOf, withRoom } from '../memory/memory.ts'
import type { RequestFacts } from '../telemetry/telemetry.ts'
import { headLines } from './identified-response.ts'
import { matchesEtag } from './routes.ts'

/** Longer text of one byte a character is made bytes at once, even where it is sent once: it does not fit behind a head. */
const longestText = 20 * 1024
/** What is not longer is copied behind its head for less than room would take. */
const shortBody = 8192

/**
 * An answer that is sent as it is, again and again, until what it was made from changes: 200 with a body that is encoded
 * already. Its keeper knows when it is out of date.
 */
export class ReadyAnswer {
  /** Names the body for conditional requests, quotes included; undefined: they are not answered. */
  readonly etag: string | undefined
  /** What the access log tells of every request that gets it. */
  readonly facts: RequestFacts & { readonly route: string }
  /** Whether it is sent again: what is put together of it is then worth a copy in one piece. */
  isKept = true
  /** The part of its line in the access log that is the same for one URL, once the log has put it together. */
  logged: { readonly url: string; readonly status: number; readonly fields: Uint8Array } | undefined
  /** In front of the body, for a head, if there is any. */
  room: Room | undefined
  readonly #shared: Readonly<Record<string, string>>
  #body: string | Buffer<ArrayBuffer>
  #head: string | Buffer | undefined
  #notModifiedHead: string | Buffer | undefined

  /**
   * @param content bytes are kept, and not copied: they must stay as they are
   * @param headers of the answer but for `ETag` and `Content-Length`; one object may be shared by many answers
   */
  constructor(
    content: string | Uint8Array<ArrayBuffer>,
    headers: Readonly<Record<string, string>>,
    facts: ReadyAnswer['facts'],
    etag?: string,
  ) {
    this.#body = bodyOf(content)
    this.room = typeof this.#body === 'string' ? undefined : roomOf(this.#body)
    this.etag = etag
    this.facts = facts
    this.#shared = headers
  }

  /** How many bytes the body has. */
  get size(): number {
    return this.#body.length
  }

  /** Bytes, or what is sent once as text of one byte a character. */
  get body(): string | Buffer<ArrayBuffer> {
    if (this.isKept && typeof this.#body === 'string') {
      const isShort = this.#body.length <= shortBody
      this.#body = isShort ? keptBytes(this.#body) : withRoom(this.#body)
      this.room = roomOf(this.#body)
    }
    return this.#body
  }

  /** Whether the client has it already. @param ifNoneMatch the header of that name */
  isKnownBy(ifNoneMatch: string | undefined): boolean {
    return this.etag !== undefined && matchesEtag(ifNoneMatch, this.etag)
  }

  /** Headers of this very answer as `sendReady` wants them, for a client that has it already or for one that does not. */
  head(isKnown: boolean): string | Buffer {
    if (isKnown) return (this.#notModifiedHead ??= this.#headOf(this.#notModifiedLines()))
    return (this.#head ??= this.#headOf(
      `${this.#notModifiedLines()}Content-Length: ${this.size}\r\n`,
    ))
  }

  /** @param ifNoneMatch the header of that name */
  toResponse(ifNoneMatch?: string): Response {
    if (this.isKnownBy(ifNoneMatch)) {
      return new Response(null, { status: 304, headers: this.#notModifiedHeaders() })
    }
    const { body } = this
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body
    return new Response(bytes, { headers: this.#headers() })
  }

  #headOf(lines: string): string | Buffer {
    const head = headLines(lines)
    return this.isKept ? keptBytes(head) : head
  }

  #notModifiedLines(): string {
    const lines = sharedLines(this.#shared)
    return this.etag === undefined ? lines : `${lines}ETag: ${this.etag}\r\n`
  }

  #headers(): Record<string, string> {
    return { ...this.#notModifiedHeaders(), 'Content-Length': String(this.size) }
  }

  #notModifiedHeaders(): Record<string, string> {
    return this.etag === undefined ? { ...this.#shared } : { ...this.#shared, ETag: this.etag }
  }
}

function bodyOf(content: string | Uint8Array<ArrayBuffer>): string | Buffer<ArrayBuffer> {
  if (typeof content !== 'string') return bufferOver(content)
  // Plain ASCII is its own bytes.
  if (content.length <= longestText && Buffer.byteLength(content) === content.length) return content
  return withRoom(content)
}

const bufferOver = ({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>) =>
  Buffer.from(buffer, byteOffset, length)

const known = new WeakMap<Readonly<Record<string, string>>, string>()

/** Headers that many answers share, as lines of HTTP/1.1. */
function sharedLines(headers: Readonly<Record<string, string>>): string {
  let lines = known.get(headers)
  if (lines === undefined) {
    lines = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
    known.set(headers, lines)
  }
  return lines
}
