import { RegistryError } from '../errors/errors.ts'

/**
 * Answers Unavailable when the backend does not answer in time. What it is doing cannot be called off (a dead network
 * file system), so whatever it comes up with later goes to `late`.
 */
export async function withDeadline<T>(
  work: Promise<T>,
  ms: number,
  late?: (value: T) => void,
  message = 'the archive storage does not answer',
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

export function unavailable(message: string, cause?: unknown): RegistryError {
  return new RegistryError('Unavailable', `${message}; try again in a moment`, {
    cause,
    headers: { 'Retry-After': '5' },
  })
}
