import type { Backend } from '../../../api/v1alpha1/v1alpha1.ts'
import type { ListedObject } from '../driver.ts'

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
  request(method: 'GET' | 'HEAD' | 'DELETE', object: string): Promise<StoreRequest>
  presign(object: string, ttlSeconds: number): Promise<string>
  /** What the operator has to set or to check where the store refuses its credentials. */
  readonly credentialsAdvice: string
  /** How the store says the SHA-256 of an object, where it keeps one. */
  readonly checksum?: {
    /** A HEAD. */
    request(object: string): Promise<StoreRequest>
    /** In hexadecimal; undefined where the object has none, or one of another kind. */
    sha256(header: (name: string) => string | undefined): string | undefined
  }
  readonly writing: StoreWriting
}

/** How an object is to be stored. */
export interface Upload {
  /** Refused with 409 or 412 where there is an object of that name. */
  readonly conditional: boolean
  /** Of the body, in hexadecimal. */
  readonly sha256: string
  /** Whether the store is to keep the digest, where it can. */
  readonly checksum: boolean
}

/** What is particular to writing into one bucket or container. */
interface StoreWriting {
  /**
   * A request that stores its body as an object.
   */
  put(object: string, upload: Upload): Promise<StoreRequest & { method: 'PUT' | 'POST' }>
  /**
   * Pages of objects; what fails is the error of the SDK.
   *
   * @param fetchText sends a signed request for stores whose SDK is not to be used
   */
  list(
    prefix: string,
    fetchText: (request: StoreRequest) => Promise<string>,
  ): AsyncIterable<ListedObject[]>
  /** Makes the container, where each module or provider has one of its own. */
  create?(): Promise<void>
}
