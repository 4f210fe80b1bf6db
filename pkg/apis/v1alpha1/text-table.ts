/** A power of two. With some thousands of texts it is rare that three have the same. */
const slots = 2 ** 16
const maxTextLength = 2_000
/** Of all texts; they are ASCII as a rule, so that is their size in bytes. */
const maxLength = 16_000_000
/** Characters near the beginning and at the end tell most texts apart; to hash all of them costs four times as much. */
const [headFrom, headTo, tailLength] = [16, 40, 24]

/**
 * Remembers values by a text, each in one of two slots; where both are taken, the older one makes way. So it is bounded,
 * and a writer who makes texts collide gets no more than a slow answer.
 */
export class TextTable<T extends { readonly text: string }> {
  /** Made with the first value: most readers never meet any. */
  #values: (T | undefined)[] = []
  #length = 0

  get(text: string): T | undefined {
    const slot = slotOf(text)
    const value = this.#values[slot]
    if (value?.text === text) return value
    const other = this.#values[slot ^ 1]
    return other?.text === text ? other : undefined
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
    const slot = slotOf(value.text)
    if (this.#values[slot] !== undefined) this.#put(slot ^ 1, this.#values[slot])
    this.#put(slot, value)
  }

  #put(slot: number, value: T | undefined): void {
    this.#length += (value?.text.length ?? 0) - (this.#values[slot]?.text.length ?? 0)
    this.#values[slot] = value
  }
}

function slotOf(text: string): number {
  const { length } = text
  let hash = length
  for (let index = headFrom; index < headTo && index < length; index += 1) {
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  }
  for (let index = Math.max(0, length - tailLength); index < length; index += 1) {
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  }
  return (hash ^ (hash >>> 15)) & (slots - 1)
}
