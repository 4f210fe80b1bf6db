import { setImmediate } from 'node:timers/promises'

/**
 * For long work on the event loop: await what this returns between two steps, and requests are answered in between.
 *
 * @param sliceMs how long steps may go on without a pause, in milliseconds
 */
export function createBreather(sliceMs = 6): () => Promise<void> {
  let start = performance.now()
  return async () => {
    if (performance.now() - start < sliceMs) return
    await setImmediate()
    start = performance.now()
  }
}

/** Does `work` for every item, at most `limit` at a time. */
export async function eachLimited<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  const worker = async () => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: limit }, worker))
}
