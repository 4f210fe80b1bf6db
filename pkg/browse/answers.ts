import { hash } from 'node:crypto'
import type { Composed } from './endpoint.ts'

/** An answer that is ready to be sent. */
export interface Answer {
  readonly body: string | Uint8Array<ArrayBuffer>
  /** Of the body, quotes included: it tells nothing that the body does not. */
  readonly etag: string
  readonly headers: Readonly<Record<string, string>>
}

interface Kept extends Answer {
  readonly revision: () => number
  readonly madeAt: number
  readonly sizeBytes: number
}

/** Smaller ones go out in one piece with their headers as text; larger ones are encoded once. */
const largestTextBytes = 2 * 1024
/** Of what one answer takes beside its body: key, headers, bookkeeping. */
const overheadBytes = 1024

/**
 * Remembers answers until what they were made from changes, or until they take too much memory: then the longest unused
 * goes first.
 */
export class Answers {
  readonly #kept = new Map<string, Kept>()
  readonly #capacityBytes: number
  #sizeBytes = 0

  /** @param capacityBytes default 48 MiB; an answer of more than half of that is not kept */
  constructor(capacityBytes = 48 * 2 ** 20) {
    this.#capacityBytes = capacityBytes
  }

  get(key: string): Answer | undefined {
    const kept = this.#kept.get(key)
    if (kept === undefined) return undefined
    this.#kept.delete(key)
    if (kept.revision() === kept.madeAt) {
      this.#kept.set(key, kept)
      return kept
    }
    this.#sizeBytes -= kept.sizeBytes
    return undefined
  }

  /** Makes an answer and keeps it, unless it is too large. */
  put(key: string, { body, revision }: Composed): Answer {
    const bytes = Buffer.from(body)
    const etag = `"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`
    const sizeBytes = bytes.length + key.length + overheadBytes
    const answer = {
      body: bytes.length > largestTextBytes ? bytes : body,
      etag,
      headers: answerHeaders(etag),
      revision,
      madeAt: revision(),
      sizeBytes,
    }
    if (sizeBytes > this.#capacityBytes / 2) return answer
    this.#sizeBytes += sizeBytes - (this.#kept.get(key)?.sizeBytes ?? 0)
    this.#kept.delete(key)
    this.#kept.set(key, answer)
    this.#shrink()
    return answer
  }

  #shrink(): void {
    for (const [key, { sizeBytes }] of this.#kept) {
      if (this.#sizeBytes <= this.#capacityBytes) return
      this.#kept.delete(key)
      this.#sizeBytes -= sizeBytes
    }
  }
}

/** Answers differ by caller, so no cache that callers share may keep them, and any other asks each time. */
function answerHeaders(etag: string): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'Cache-Control': 'private, no-cache',
    Vary: 'Authorization',
    ETag: etag,
  }
}
