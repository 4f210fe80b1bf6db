/** Names a list in {@link IdLists}; 0 is the empty list. */
export type ListHandle = number

/** Large enough for the longest list, small enough that a mostly empty block costs little. */
const segmentLength = 2 ** 20
/** The largest number in two bytes. */
const narrowMax = 2 ** 16 - 1

/**
 * Millions of short lists of numbers in a few large typed arrays: two bytes for each element, or four in lists with large
 * elements, and no object for a list.
 */
export class IdLists {
  readonly #narrow = new Lists(Uint16Array)
  /** Their handles are negative. */
  readonly #wide = new Lists(Uint32Array)

  add(ids: readonly number[]): ListHandle {
    if (ids.length === 0) return 0
    if (ids.length >= segmentLength) throw new RangeError(`a list of ${ids.length} ids is too long`)
    const isNarrow = ids.length <= narrowMax && ids.every((id) => id <= narrowMax)
    return isNarrow ? this.#narrow.add(ids) : -this.#wide.add(ids)
  }

  /** The elements, as a view that holds until the list is dropped. */
  get(handle: ListHandle): Uint16Array | Uint32Array {
    if (handle === 0) return new Uint16Array()
    return handle > 0 ? this.#narrow.get(handle) : this.#wide.get(-handle)
  }

  drop(handle: ListHandle): void {
    if (handle > 0) this.#narrow.drop(handle)
    else if (handle < 0) this.#wide.drop(-handle)
  }
}

/** A list is its length, then its elements. The next list of that length reuses the space of a dropped one. */
class Lists<A extends Uint16Array | Uint32Array> {
  readonly #segments: A[] = []
  readonly #holes = new Map<number, ListHandle[]>()
  readonly #Segment: new (
    length: number,
  ) => A
  #end = segmentLength

  constructor(Segment: new (length: number) => A) {
    this.#Segment = Segment
  }

  /** @returns a positive number */
  add(ids: readonly number[]): ListHandle {
    const handle = this.#holes.get(ids.length)?.pop() ?? this.#allocate(ids.length)
    const [segment, start] = this.#locate(handle)
    segment[start] = ids.length
    segment.set(ids, start + 1)
    return handle
  }

  get(handle: ListHandle): A {
    const [segment, start] = this.#locate(handle)
    return segment.subarray(start + 1, start + 1 + (segment[start] ?? 0)) as A
  }

  drop(handle: ListHandle): void {
    const { length } = this.get(handle)
    const holes = this.#holes.get(length)
    if (holes === undefined) this.#holes.set(length, [handle])
    else holes.push(handle)
  }

  #allocate(length: number): ListHandle {
    if (this.#end + length + 1 > segmentLength) {
      this.#segments.push(new this.#Segment(segmentLength))
      this.#end = this.#segments.length === 1 ? 1 : 0
    }
    const handle = (this.#segments.length - 1) * segmentLength + this.#end
    this.#end += length + 1
    return handle
  }

  #locate(handle: ListHandle): [segment: A, start: number] {
    const segment = this.#segments[Math.floor(handle / segmentLength)] as A
    return [segment, handle % segmentLength]
  }
}
