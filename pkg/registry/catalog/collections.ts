/** A map by namespace and name. It has two levels, so that it needs no combined keys. */
export class NamedRows<R> {
  readonly #namespaces = new Map<string, Map<string, R>>()
  #size = 0

  /** The same map, read-only: rows by namespace, then by name. */
  get byNamespace(): ReadonlyMap<string, ReadonlyMap<string, R>> {
    return this.#namespaces
  }

  get size(): number {
    return this.#size
  }

  get(namespace: string, name: string): R | undefined {
    return this.#namespaces.get(namespace)?.get(name)
  }

  getOrSet(namespace: string, name: string, create: () => R): R {
    const known = this.get(namespace, name)
    if (known !== undefined) return known
    const created = create()
    this.set(namespace, name, created)
    return created
  }

  set(namespace: string, name: string, row: R): void {
    let rows = this.#namespaces.get(namespace)
    if (rows === undefined) {
      rows = new Map()
      this.#namespaces.set(namespace, rows)
    }
    const { size } = rows
    rows.set(name, row)
    this.#size += rows.size - size
  }

  delete(namespace: string, name: string): void {
    const rows = this.#namespaces.get(namespace)
    if (rows?.delete(name) !== true) return
    this.#size -= 1
    if (rows.size === 0) this.#namespaces.delete(namespace)
  }

  *entries(): Iterable<[namespace: string, name: string, row: R]> {
    for (const [namespace, rows] of this.#namespaces) {
      for (const [name, row] of rows) yield [namespace, name, row]
    }
  }
}

/** A set of small whole numbers, with a bit for each. Sets are intersected 32 numbers at a time. */
export class Bits {
  #words: Uint32Array<ArrayBuffer>

  constructor(words = new Uint32Array(4)) {
    this.#words = words
  }

  has(number: number): boolean {
    return (((this.#words[number >>> 5] ?? 0) >>> (number & 31)) & 1) === 1
  }

  add(number: number): void {
    const index = number >>> 5
    if (index >= this.#words.length) this.#grow(Math.max(index + 1, this.#words.length * 2))
    this.#words[index] = (this.#words[index] ?? 0) | (1 << (number & 31))
  }

  delete(number: number): void {
    const index = number >>> 5
    if (index >= this.#words.length) return
    this.#words[index] = (this.#words[index] ?? 0) & ~(1 << (number & 31))
  }

  get empty(): boolean {
    return this.#words.every((word) => word === 0)
  }

  get count(): number {
    let count = 0
    for (let word of this.#words) {
      word -= (word >>> 1) & 0x55555555
      word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
      count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
    }
    return count
  }

  copy(): Bits {
    return new Bits(this.#words.slice())
  }

  /** Removes the numbers that do not pass. */
  filter(passes: (number: number) => boolean): void {
    for (let index = 0; index < this.#words.length; index += 1) {
      for (let word = this.#words[index] ?? 0; word !== 0; word &= word - 1) {
        const number = index * 32 + 31 - Math.clz32(word & -word)
        if (!passes(number)) this.delete(number)
      }
    }
  }

  /** Removes the numbers that the other set lacks. */
  keep(other: Bits): this {
    const [words, others] = [this.#words, other.#words]
    for (let index = 0; index < words.length; index += 1) {
      words[index] = (words[index] ?? 0) & (others[index] ?? 0)
    }
    return this
  }

  /** Adds the numbers of the other set. */
  merge(other: Bits): this {
    const others = other.#words
    if (others.length > this.#words.length) this.#grow(others.length)
    const words = this.#words
    for (let index = 0; index < others.length; index += 1) {
      words[index] = (words[index] ?? 0) | (others[index] ?? 0)
    }
    return this
  }

  /** The numbers, ascending. */
  *[Symbol.iterator](): Generator<number> {
    for (let index = 0; index < this.#words.length; index += 1) {
      let word = this.#words[index] ?? 0
      while (word !== 0) {
        const bit = 31 - Math.clz32(word & -word)
        yield index * 32 + bit
        word &= word - 1
      }
    }
  }

  #grow(length: number): void {
    const grown = new Uint32Array(length)
    grown.set(this.#words)
    this.#words = grown
  }
}
