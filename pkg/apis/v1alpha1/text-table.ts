/** A power of two. With some thousands of texts it is rare that three have the same. */
const slots = 2 ** 16
const maxTextLength = 2_000
/** Of all texts; they are ASCII as a rule, so that is their size in bytes. */
const maxLength = 16_000_000
/** Characters near the beginning and at the end tell most texts apart; to hash all of them costs four times as much. */
const [headFrom, headTo, tailLength] = [24, 40, 16]

/**
 * Remembers values by a text, each in one of two slots; where both are taken, the older one makes way. So it is bounded,
 * and a writer who makes texts collide gets no more than a slow answer.
 */
export class TextTable<T extends { readonly text: string }> {
  /** Made with the first value: most readers never meet any. */
  #values: (T | undefined)[] = []
  #length = 0

  /** By a part of a text. */
  find(text: string, from: number, to: number): T | undefined {
    const slot = slotOf(text, from, to)
    const value = this.#values[slot]
    if (value !== undefined && isPart(value.text, text, from, to)) return value
    const other = this.#values[slot ^ 1]
    return other !== undefined && isPart(other.text, text, from, to) ? other : undefined
  }

  /** @param value whose text is no slice of a longer one, because it would keep that one alive */
  set(value: T): void {
    const { length } = value.text
    if (length > maxTextLength) return
    if (this.#values.length === 0) this.#values = Array.from({ length: slots })
    if (this.#length + length > maxLength) {
      this.#values.fill(undefined)
      this.#length = 0
    }
    const slot = slotOf(value.text, 0, length)
    if (this.#values[slot] !== undefined) this.#put(slot ^ 1, this.#values[slot])
    this.#put(slot, value)
  }

  #put(slot: number, value: T | undefined): void {
    this.#length += (value?.text.length ?? 0) - (this.#values[slot]?.text.length ?? 0)
    this.#values[slot] = value
  }
}

function isPart(part: string, text: string, from: number, to: number): boolean {
  return part.length === to - from && part === text.slice(from, to)
}

/** Of a part of a text, without cutting it out. */
function slotOf(text: string, from: number, to: number): number {
  let hash = to - from
  const headEnd = Math.min(from + headTo, to)
  const tailStart = Math.max(from, to - tailLength)
  const step = (hash >>> 3) + 1
  for (let index = from; index < to; index += step) {
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  }
  for (let index = from + headFrom; index < headEnd; index += 1) {
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  }
  for (let index = tailStart; index < to; index += 1) {
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  }
  return (hash ^ (hash >>> 15)) & (slots - 1)
}
