import { unavailable } from '../errors/errors.ts'
import { endsWithin } from './ends-within.ts'

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
