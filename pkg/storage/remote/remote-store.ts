import type { Backend } from '../backends.ts'

/** A request that a store accepts: already signed, or with a token among the headers. */
export interface StoreRequest {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * What is particular to one bucket or container: names, credentials, signatures. All of that comes from the SDK of the
 * store; the bytes do not, so that deadlines, retries and the memory of a download are the same for all.
 */
export interface RemoteStore {
  readonly backend: Backend
  /** Name of the bucket or container, for the log. */
  readonly name: string
  /** @param object checked name */
  request(method: 'GET' | 'HEAD', object: string): Promise<StoreRequest>
  presign(object: string, ttlSeconds: number): Promise<string>
  /** What the operator has to set or to check where the store refuses its credentials. */
  readonly credentialsAdvice: string
}
