import type { ReadyAnswer } from '../../base/serving/serving.ts'
import type { Release } from './release.ts'

interface Kept {
  readonly release: Release
  readonly keyRevision: number
  readonly baseUrl: string
  readonly answer: ReadyAnswer
}

/**
 * Answers with something of the signing key in them, which may be replaced at any time. They take kilobytes each, so only
 * those that were made last are kept.
 */
export class SignedAnswers {
  readonly #kept = new Map<object, Kept>()
  readonly #capacity: number

  /** @param capacity how many are kept */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /**
   * @param key what the answer is about
   * @param release as it stands now; an answer that was made of an earlier one is out of date
   * @param baseUrl of the links in it, if any
   */
  get(
    key: object,
    release: Release,
    keyRevision: number,
    baseUrl: string,
  ): ReadyAnswer | undefined {
    const kept = this.#kept.get(key)
    if (kept === undefined || kept.release !== release || kept.keyRevision !== keyRevision) {
      return undefined
    }
    return kept.baseUrl === baseUrl ? kept.answer : undefined
  }

  set(key: object, kept: Kept): ReadyAnswer {
    this.#kept.delete(key)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < this.#capacity) break
      this.#kept.delete(oldest)
    }
    this.#kept.set(key, kept)
    return kept.answer
  }
}
