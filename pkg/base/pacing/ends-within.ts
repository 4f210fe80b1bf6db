/**
 * Waits a limited time for work, which continues if it has not ended by then.
 *
 * @returns whether it ended in time
 * @throws the error of work that fails in time
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
