import { unavailable } from '../errors/errors.ts'

/**
 * Waits for work that cannot be called off, such as a read from a dead network file system, and gives up after a time.
 *
 * @param message why, to the person at the other end: `the archive storage does not answer`
 * @param late is given what the work comes up with after that
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
