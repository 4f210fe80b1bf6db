import { ApiError, type KubeClient, type ObservedObject } from '../kube/kube.ts'

type Fields = Readonly<Record<string, unknown>>

/** One Lease, with the answers that an API server gives to those who read and write it. */
export class TestLease {
  spec: Fields | undefined
  /** Requests get no answer. */
  isUnreachable = false
  #version = 0

  /** A client of a replica. Everything except Leases is refused. */
  client(): KubeClient {
    const refuse = () => Promise.reject(new ApiError('Forbidden', 'this is a server of one Lease'))
    return {
      get: async () => {
        if (this.#reach() === undefined) throw new ApiError('NotFound', 'there is no Lease')
        return this.#object()
      },
      create: async ({ spec }) => {
        if (this.#reach() !== undefined) throw new ApiError('AlreadyExists', 'there is a Lease')
        return this.#put(spec as Fields)
      },
      patch: async (_, patch, options) => {
        this.#reach()
        if (options?.resourceVersion !== String(this.#version)) {
          throw new ApiError('Conflict', 'the Lease was changed')
        }
        return this.#put({ ...this.spec, ...(patch as { spec: Fields }).spec })
      },
      apply: refuse,
      writeStatus: refuse,
      delete: refuse,
    }
  }

  #reach(): Fields | undefined {
    if (this.isUnreachable) throw new ApiError('Unavailable', 'the API server is unreachable')
    return this.spec
  }

  #put(spec: Fields): ObservedObject {
    this.spec = spec
    this.#version += 1
    return this.#object()
  }

  #object(): ObservedObject {
    const metadata = { name: 'depot', namespace: 'team', resourceVersion: String(this.#version) }
    const lease = { metadata, spec: this.spec }
    return lease
  }
}
