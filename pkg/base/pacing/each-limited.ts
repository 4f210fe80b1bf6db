/** Does `work` for every item, at most `limit` at a time. Rejects with the first error, and begins no item after it. */
export async function eachLimited<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  const failures: unknown[] = []
  const worker = async () => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      await work(next.value).catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    }
  }
  await Promise.all(Array.from({ length: limit }, worker))
}
