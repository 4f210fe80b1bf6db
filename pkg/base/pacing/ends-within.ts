/**
 * Waits for work, but no longer than a time. What has not ended by then goes on.
 *
 * @returns whether it ended in time
 * @throws what the work throws in time
 */
export async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const over = Promise.withResolvers<false>()
  const timer = setTimeout(() => over.resolve(false), ms)
  try {
    return await Promise.race([work.then(() => true), over.promise])
  } finally {
    clearTimeout(timer)
  }
}
