import { hash } from 'node:crypto'
import { ReadyAnswer } from '../serving/serving.ts'
import type { Composed } from './endpoint.ts'

interface Kept {
  readonly answer: ReadyAnswer
  readonly revision: () => number
  readonly madeAt: number
  readonly sizeBytes: number
  /** Since it was last passed over when room was needed. */
  isUsed: boolean
}

/** Of hashes of keys that were asked for lately. */
const rememberedKeys = 4096

/** Of what one answer takes beside its body: headers and room for them, its URL and fields for the access log, bookkeeping. */
const overheadBytes = 4096

/** Answers differ by caller, so no cache that callers share may keep them, and any other asks each time. */
const headers = {
  'Content-Type': 'application/json',
  'Cache-Control': 'private, no-cache',
  Vary: 'Authorization',
}

/**
 * Remembers answers until what they were made from changes, or until they take too much memory: then the oldest go that
 * were not asked for again. What is asked for once is not kept: most pages of a search never are again, and keeping them
 * costs more than making them.
 */
export class Answers {
  readonly #kept = new Map<string, Kept>()
  readonly #capacityBytes: number
  #sizeBytes = 0
  readonly #asked = new Int32Array(rememberedKeys)

  /** @param capacityBytes default 48 MiB; an answer of more than half of that is not kept */
  constructor(capacityBytes = 48 * 2 ** 20) {
    this.#capacityBytes = capacityBytes
  }

  get(key: string): ReadyAnswer | undefined {
    const kept = this.#kept.get(key)
    if (kept === undefined) return undefined
    if (kept.revision() === kept.madeAt) {
      kept.isUsed = true
      return kept.answer
    }
    this.#kept.delete(key)
    this.#sizeBytes -= kept.sizeBytes
    return undefined
  }

  /**
   * Makes an answer and keeps it, unless it is too large or was not asked for lately. Its ETag is of the body, and tells
   * nothing that the body does not.
   */
  put(key: string, { body, revision }: Composed, facts: ReadyAnswer['facts']): ReadyAnswer {
    const answer = unkept(body, facts)
    if (!this.#wasAsked(key)) return answer
    const sizeBytes = answer.size + key.length + overheadBytes
    if (sizeBytes > this.#capacityBytes / 2) return answer
    answer.isKept = true
    this.#sizeBytes += sizeBytes - (this.#kept.get(key)?.sizeBytes ?? 0)
    this.#kept.delete(key)
    this.#kept.set(key, { answer, revision, madeAt: revision(), sizeBytes, isUsed: false })
    if (this.#sizeBytes > this.#capacityBytes) this.#shrink()
    return answer
  }

  /** Whether this key was the last one of its place in the table; it is from now on. */
  #wasAsked(key: string): boolean {
    let code = 0
    for (let index = 0; index < key.length; index += 1) {
      code = (Math.imul(code, 31) + key.charCodeAt(index)) | 0
    }
    const place = (code >>> 0) % rememberedKeys
    const was = this.#asked[place] === code
    this.#asked[place] = code
    return was
  }

  /** Makes room for many at once: to find the oldest, a Map passes by all places that became empty since it was packed. */
  #shrink(): void {
    const targetBytes = this.#capacityBytes * 0.9
    for (const [key, kept] of this.#kept) {
      if (this.#sizeBytes <= targetBytes) return
      this.#kept.delete(key)
      if (kept.isUsed) {
        kept.isUsed = false
        this.#kept.set(key, kept)
      } else this.#sizeBytes -= kept.sizeBytes
    }
  }
}

/** An answer that is made for one request. */
export function unkept(body: string, facts: ReadyAnswer['facts'] = { route: '' }): ReadyAnswer {
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`
  const answer = new ReadyAnswer(body, headers, facts, etag)
  answer.isKept = false
  return answer
}
