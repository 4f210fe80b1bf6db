import { hash } from 'node:crypto'
import { SendableBody } from '../../base/fast/fast.ts'
import { Bounded, keptText } from '../../base/memory/memory.ts'
import { ReadyAnswer } from '../../base/serving/serving.ts'
import type { Composed } from './endpoint.ts'

interface Kept {
  readonly answer: ReadyAnswer
  readonly revision: () => number
  readonly madeAt: number | undefined
}

/** How many hashes of recent requests are remembered. */
const rememberedTargets = 4096

/** Bytes of an answer in addition to its body: headers, URL, fields for the access log, bookkeeping. */
const overheadBytes = 4096
/** An entry keeps the body and its compressed form. */
const bodyShare = 1.25

/** Answers depend on the caller, so shared caches must not keep them, and private ones must revalidate. */
export const headersOf = (contentType = 'application/json') => ({
  'Content-Type': contentType,
  'Cache-Control': 'private, no-cache',
  Vary: 'Authorization, Accept-Encoding',
})
const jsonHeaders = headersOf()

/**
 * Remembers answers until their data changes or they take too much memory. Then it drops those that were not requested for
 * the longest time. An answer is kept from its second request on: most pages of a search are requested once, and keeping
 * them costs more than making them.
 */
export class Answers {
  readonly #kept: Bounded<Kept>
  readonly #largestBytes: number
  readonly #asked = new Int32Array(rememberedTargets)

  /** @param maxBytes default 48 MiB; larger answers than half of that are not kept */
  constructor(maxBytes = 48 * 2 ** 20) {
    this.#kept = new Bounded({ maxBytes, sizeOf: ({ answer }, key) => bytesOf(answer, key) })
    this.#largestBytes = maxBytes / 2
  }

  /** Number of answers that are kept. */
  get size(): number {
    return this.#kept.size
  }

  get(view: string, target: string): ReadyAnswer | undefined {
    const key = keyOf(view, target)
    const kept = this.#kept.get(key)
    if (kept === undefined || kept.revision() === kept.madeAt) return kept?.answer
    this.#kept.delete(key)
    return undefined
  }

  /**
   * Makes an answer and keeps it, unless it is too large, was not requested lately, or is outdated at once. Its ETag is a hash
   * of the body, so it reveals nothing else. Call it if `get` returns nothing.
   *
   * @param view its key
   * @param target path and query
   */
  put(
    view: string,
    target: string,
    { body, revision, madeAt = revision?.() }: Composed,
    facts: ReadyAnswer['facts'],
    headers: ReturnType<typeof headersOf> = jsonHeaders,
  ): ReadyAnswer {
    const etag = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`
    const answer = new ReadyAnswer(SendableBody.ofText(body), headers, facts, etag)
    if (revision === undefined) return answer
    const key = keyOf(view, target)
    if (this.#wasAsked(key) && bytesOf(answer, key) <= this.#largestBytes) {
      this.#kept.set(keptText(key), { answer, revision, madeAt })
    }
    return answer
  }

  /** Whether the last request in this slot of the table was the same. Stores this one there. */
  #wasAsked(key: string): boolean {
    const code = codeOf(key)
    const place = (code >>> 0) % rememberedTargets
    const was = this.#asked[place] === code
    this.#asked[place] = code
    return was
  }
}

const keyOf = (view: string, target: string): string => `${view} ${target}`

const bytesOf = ({ body }: ReadyAnswer, key: string): number =>
  Math.ceil(body.length * bodyShare) + key.length + overheadBytes

function codeOf(text: string): number {
  let code = 0
  for (let index = 0; index < text.length; index += 1) {
    code = (Math.imul(code, 31) + text.charCodeAt(index)) | 0
  }
  return code
}
