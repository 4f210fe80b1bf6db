const [fewestSlots, mostSlots] = [2 ** 10, 2 ** 16]
const maxTextLength = 2_000
/** Total length of all texts. They are usually ASCII, so this is their size in bytes. */
const maxLength = 16_000_000
/** Texts with the same hash are compared one by one. */
const maxChain = 8
/** Characters near the beginning and at the end tell most texts apart. To hash all characters takes four times as long. */
const [headFrom, headTo, tailLength] = [24, 40, 16]

/**
 * Remembers values by a text. It forgets all of them when it is full, and the oldest of those that share a slot. So it is
 * bounded, and colliding texts only make an answer slow.
 *
 * Lookups use few, dense arrays, because random reads of memory are most of their cost.
 */
export class TextTable<T> {
  /** The last value of each slot, as index into the arrays below; 0 means none. Created with the first value. */
  #slots = new Int32Array()
  #next = new Int32Array()
  #hashes = new Int32Array()
  #texts: string[] = []
  #values: (T | undefined)[] = []
  #length = 0

  /** Looks up a part of a text. */
  find(text: string, from: number, to: number): T | undefined {
    const hash = hashOf(text, from, to)
    const hashes = this.#hashes
    for (let index = this.#first(hash); index !== 0; index = this.#next[index] as number) {
      if (hashes[index] !== hash) continue
      if (isPart(this.#texts[index] as string, text, from, to)) return this.#values[index]
    }
    return undefined
  }

  /** @param text not a slice of a longer text, which it would keep alive */
  set(text: string, value: T): void {
    const { length } = text
    if (length > maxTextLength) return
    const isFull = this.#values.length > mostSlots || this.#length + length > maxLength
    if (this.#slots.length === 0 || isFull) this.#clear(fewestSlots)
    else if (this.#values.length > this.#slots.length) this.#grow()
    this.#length += length
    this.#put(text, value)
  }

  #put(text: string, value: T | undefined): void {
    const hash = hashOf(text, 0, text.length)
    let index = this.#first(hash)
    for (let count = 1; index !== 0; count += 1) {
      const next = this.#next[index] as number
      if (next === 0 && count >= maxChain) break
      index = next
    }
    if (index === 0) {
      index = this.#values.length
      this.#next[index] = this.#first(hash)
      this.#slots[hash & (this.#slots.length - 1)] = index
    }
    this.#hashes[index] = hash
    this.#texts[index] = text
    this.#values[index] = value
  }

  #first(hash: number): number {
    const slots = this.#slots
    return slots.length === 0 ? 0 : (slots[hash & (slots.length - 1)] as number)
  }

  #grow(): void {
    const [texts, values, length] = [this.#texts, this.#values, this.#length]
    this.#clear(this.#slots.length * 2)
    this.#length = length
    for (let index = 1; index < values.length; index += 1) {
      this.#put(texts[index] as string, values[index])
    }
  }

  #clear(slots: number): void {
    this.#slots = new Int32Array(slots)
    this.#next = new Int32Array(slots + 2)
    this.#hashes = new Int32Array(slots + 2)
    this.#texts = ['']
    this.#values = [undefined]
    this.#length = 0
  }
}

function isPart(part: string, text: string, from: number, to: number): boolean {
  return part.length === to - from && part === text.slice(from, to)
}

/** The hash of a part of a text, without cutting it out. */
function hashOf(text: string, from: number, to: number): number {
  let hash = to - from
  const headEnd = Math.min(from + headTo, to)
  for (let index = from + headFrom; index < headEnd; index += 1) {
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  }
  for (let index = Math.max(from, to - tailLength); index < to; index += 1) {
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  }
  return hash ^ (hash >>> 15)
}
