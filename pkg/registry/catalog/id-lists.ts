/** Names a list in {@link IdLists}; 0 is the empty list. */
export type ListHandle = number

/** Large enough for the longest list, small enough that an almost empty one costs nothing. */
const segmentLength = 2 ** 20

/**
 * Millions of short lists of numbers in a few large typed arrays: four bytes for each element, and no object for a list. A
 * list is its length, then its elements; the next list of that length fills the hole of a dropped one.
 */
export class IdLists {
  readonly #segments: Uint32Array[] = []
  readonly #holes = new Map<number, ListHandle[]>()
  #end = segmentLength

  add(ids: readonly number[]): ListHandle {
    if (ids.length === 0) return 0
    if (ids.length >= segmentLength) throw new RangeError(`a list of ${ids.length} ids is too long`)
    const handle = this.#holes.get(ids.length)?.pop() ?? this.#allocate(ids.length)
    const [segment, start] = this.#locate(handle)
    segment[start] = ids.length
    segment.set(ids, start + 1)
    return handle
  }

  /** The elements, as a view that holds until the list is dropped. */
  get(handle: ListHandle): Uint32Array {
    if (handle === 0) return new Uint32Array()
    const [segment, start] = this.#locate(handle)
    return segment.subarray(start + 1, start + 1 + (segment[start] ?? 0))
  }

  drop(handle: ListHandle): void {
    if (handle === 0) return
    const { length } = this.get(handle)
    const holes = this.#holes.get(length)
    if (holes === undefined) this.#holes.set(length, [handle])
    else holes.push(handle)
  }

  #allocate(length: number): ListHandle {
    if (this.#end + length + 1 > segmentLength) {
      this.#segments.push(new Uint32Array(segmentLength))
      this.#end = this.#segments.length === 1 ? 1 : 0
    }
    const handle = (this.#segments.length - 1) * segmentLength + this.#end
    this.#end += length + 1
    return handle
  }

  #locate(handle: ListHandle): [segment: Uint32Array, start: number] {
    const segment = this.#segments[Math.floor(handle / segmentLength)] as Uint32Array
    return [segment, handle % segmentLength]
  }
}
