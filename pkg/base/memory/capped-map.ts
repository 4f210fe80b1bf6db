/** A small map for values that are cheap to make again: it forgets all of them when it is full. */
export class CappedMap<K, V> extends Map<K, V> {
  readonly #max: number

  constructor(max: number) {
    super()
    this.#max = max
  }

  override set(key: K, value: V): this {
    if (this.size >= this.#max && !this.has(key)) this.clear()
    return super.set(key, value)
  }
}
