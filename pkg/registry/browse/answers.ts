import { hash } from 'node:crypto'
import { keptText } from '../../base/memory/memory.ts'
import { ReadyAnswer } from '../../base/serving/serving.ts'
import type { Composed } from './endpoint.ts'

interface Kept {
  /** The key of the view. */
  readonly view: string
  /** Path and query. */
  readonly target: string
  readonly answer: ReadyAnswer
  readonly revision: () => number
  readonly madeAt: number
  readonly sizeBytes: number
  /** Whether it was asked for since the last time that space was needed. */
  isUsed: boolean
}

/** How many hashes of recent requests are remembered. */
const rememberedTargets = 4096

/** Bytes of an answer in addition to its body: headers, its URL and fields for the access log, bookkeeping. */
const overheadBytes = 4096

/** Answers differ by caller, so shared caches must not keep them, and private ones ask each time. */
const headers = {
  'Content-Type': 'application/json',
  'Cache-Control': 'private, no-cache',
  Vary: 'Authorization',
}

/**
 * Remembers answers until their data changes, or until they take too much memory: then the oldest go that were not asked
 * for again. An answer is kept from its second request on: most pages of a search have only one, and keeping them costs
 * more than making them.
 */
export class Answers {
  /** By view and target, because joining both to one key would cost time in every request. */
  readonly #views = new Map<string, Map<string, Kept>>()
  /** Oldest first. */
  readonly #kept = new Set<Kept>()
  readonly #capacityBytes: number
  #sizeBytes = 0
  readonly #asked = new Int32Array(rememberedTargets)

  /** @param capacityBytes default 48 MiB; an answer of more than half of that is not kept */
  constructor(capacityBytes = 48 * 2 ** 20) {
    this.#capacityBytes = capacityBytes
  }

  /** How many views have answers that are kept. */
  get views(): number {
    return this.#views.size
  }

  get(view: string, target: string): ReadyAnswer | undefined {
    const kept = this.#views.get(view)?.get(target)
    if (kept === undefined) return undefined
    if (kept.revision() === kept.madeAt) {
      kept.isUsed = true
      return kept.answer
    }
    this.#forget(kept)
    return undefined
  }

  /**
   * Makes an answer and keeps it, unless it is too large or was not asked for lately. Its ETag is of the body, and tells
   * nothing that the body does not. Call it if `get` has none.
   *
   * @param view its key
   * @param asked path and query
   */
  put(
    view: string,
    asked: string,
    { body, revision }: Composed,
    facts: ReadyAnswer['facts'],
  ): ReadyAnswer {
    const answer = unkept(body, facts)
    if (!this.#wasAsked(view, asked)) return answer
    const sizeBytes = answer.body.length + asked.length + overheadBytes
    if (sizeBytes > this.#capacityBytes / 2) return answer
    const target = keptText(asked)
    const kept = { view, target, answer, revision, madeAt: revision(), sizeBytes, isUsed: false }
    this.#sizeBytes += sizeBytes
    this.#kept.add(kept)
    const ofView = this.#views.get(view) ?? new Map<string, Kept>()
    this.#views.set(view, ofView.set(target, kept))
    if (this.#sizeBytes > this.#capacityBytes) this.#shrink()
    return answer
  }

  /** Whether this was the last one in its place of the table; from now on it is. */
  #wasAsked(view: string, target: string): boolean {
    const code = codeOf(target, codeOf(view, 0))
    const place = (code >>> 0) % rememberedTargets
    const was = this.#asked[place] === code
    this.#asked[place] = code
    return was
  }

  #forget(kept: Kept): void {
    const ofView = this.#views.get(kept.view)
    ofView?.delete(kept.target)
    if (ofView?.size === 0) this.#views.delete(kept.view)
    this.#kept.delete(kept)
    this.#sizeBytes -= kept.sizeBytes
  }

  /** Makes space for many at once: a Set finds its oldest entry only after all places that became empty. */
  #shrink(): void {
    const targetBytes = this.#capacityBytes * 0.9
    for (const kept of this.#kept) {
      if (this.#sizeBytes <= targetBytes) return
      if (kept.isUsed) {
        kept.isUsed = false
        this.#kept.delete(kept)
        this.#kept.add(kept)
      } else this.#forget(kept)
    }
  }
}

function codeOf(text: string, seed: number): number {
  let code = seed
  for (let index = 0; index < text.length; index += 1) {
    code = (Math.imul(code, 31) + text.charCodeAt(index)) | 0
  }
  return code
}

/** An answer that is made for one request. */
export function unkept(body: string, facts: ReadyAnswer['facts'] = { route: '' }): ReadyAnswer {
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`
  return new ReadyAnswer(body, headers, facts, etag)
}
