import { ApiError, type KubeClient } from '../kube/kube.ts'

/**
 * A client whose writes are refused while a lease is not held, even if it is lost between the call and the first byte. Credentials,
 * connections and paused processes can delay that byte. Reads are always allowed.
 */
export function guarded(client: KubeClient, held: () => boolean): KubeClient {
  const write = async <T>(call: (given: { mayBegin: () => boolean }) => Promise<T>): Promise<T> => {
    if (!held()) throw notHeld()
    let isRefused = false
    const mayBegin = (): boolean => {
      isRefused = !held()
      return !isRefused
    }
    try {
      return await call({ mayBegin })
    } catch (error) {
      throw isRefused ? notHeld(error) : error
    }
  }
  return {
    get: (...asked) => client.get(...asked),
    create: (object, options) => write((more) => client.create(object, { ...options, ...more })),
    apply: (object, manager, options) =>
      write((more) => client.apply(object, manager, { ...options, ...more })),
    patch: (ref, patch, options) =>
      write((more) => client.patch(ref, patch, { ...options, ...more })),
    writeStatus: (ref, status, options) =>
      write((more) => client.writeStatus(ref, status, { ...options, ...more })),
    delete: (ref, options) => write((more) => client.delete(ref, { ...options, ...more })),
  }
}

const notHeld = (cause?: unknown): ApiError =>
  new ApiError('NotHeld', 'this replica does not hold the lease, another one may write now', {
    cause,
  })
