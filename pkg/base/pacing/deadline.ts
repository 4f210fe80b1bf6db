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
  const { promise: expired, reject } = Promise.withResolvers<never>()
  let over = false
  const timer = setTimeout(() => {
    over = true
    reject(unavailable(message))
  }, ms)
  work.then(
    (value) => over && late?.(value),
    () => {},
  )
  try {
    return await Promise.race([work, expired])
  } finally {
    clearTimeout(timer)
  }
}
