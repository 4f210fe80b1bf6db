/** V8 learns from the first seven. */
const enough = 16

/**
 * Has V8 settle how much room objects of a constructor get, while nothing can disturb it. It learns that from the first
 * seven, and a full collection between two of them makes it forget fields that it has seen. Objects of Node that name
 * fields by symbols, such as requests, responses and connections, then become hash tables for want of room: 20 to 25 µs a
 * request instead of 16, for as long as the process lives.
 *
 * @param make makes one
 */
export function settleShape(make: () => object): void {
  Array.from({ length: enough }, make)
}
