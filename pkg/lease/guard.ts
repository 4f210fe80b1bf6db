import { ApiError, type KubeClient } from '../kube/kube.ts'

/** A client whose writes are refused while a lease is not held. What is read is never wrong. */
export function guarded(client: KubeClient, held: () => boolean): KubeClient {
  const check = (): void => {
    if (held()) return
    throw new ApiError('NotHeld', 'this replica does not hold the lease, another one may write now')
  }
  return {
    get: (...asked) => client.get(...asked),
    async create(...asked) {
      check()
      return client.create(...asked)
    },
    async apply(...asked) {
      check()
      return client.apply(...asked)
    },
    async patch(...asked) {
      check()
      return client.patch(...asked)
    },
    async writeStatus(...asked) {
      check()
      return client.writeStatus(...asked)
    },
    async delete(...asked) {
      check()
      return client.delete(...asked)
    },
  }
}
