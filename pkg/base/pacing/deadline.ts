import { unavailable } from '../errors/errors.ts'

/**
 * Waits a limited time for work that cannot be cancelled, such as a read from a dead network file system.
 *
 * @param message for the client: `the archive storage does not answer`
 * @param late is called with a result that comes too late
 * @throws RegistryError Unavailable
 */
export async function withDeadline<T>(
  work: Promise<T>,
  ms: number,
  message: string,
  late?: (value: T) => void,
): Promise<T> {
  if (await endsWithin(work, ms)) return work
  work.then(late, () => {})
  throw unavailable(message)
}

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
