import type { Backend } from '../../../api/v1alpha1/v1alpha1.ts'
import type { ListedObject } from '../driver.ts'

/** A request that a store accepts: signed, or with a token in its headers. */
export interface StoreRequest {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The names, credentials and signatures of one bucket or container, from the SDK of the store. The SDK does not transfer
 * bytes: deadlines, retries and memory of a download are the same for all stores.
 */
export interface RemoteStore {
  readonly backend: Backend
  /** Name of the bucket or container, for the log. */
  readonly name: string
  /** @param object checked name */
  request(method: 'GET' | 'HEAD' | 'DELETE', object: string): Promise<StoreRequest>
  presign(object: string, ttlSeconds: number): Promise<string>
  /** Advice for the operator if the store refuses the credentials. */
  readonly credentialsAdvice: string
  /** How the store reports the SHA-256 of an object, if it keeps one. */
  readonly checksum?: {
    /** A HEAD. */
    request(object: string): Promise<StoreRequest>
    /** In hexadecimal; undefined if the object has none, or a digest of another kind. */
    sha256(header: (name: string) => string | undefined): string | undefined
  }
  readonly writing: StoreWriting
}

/** How to store an object. */
export interface StoreUpload {
  /** The store refuses an existing name with 409 or 412. */
  readonly conditional: boolean
  /** Digest of the body, in hexadecimal. */
  readonly sha256: string
  /** Whether the store should keep the digest, if it can. */
  readonly checksum: boolean
}

/** How to write to one bucket or container. */
interface StoreWriting {
  /** The method of requests of `put`. */
  readonly method: 'PUT' | 'POST'
  /** A request that stores its body as an object. */
  put(object: string, upload: StoreUpload): Promise<StoreRequest>
  /**
   * Lists pages of objects. Throws the errors of the SDK.
   *
   * @param fetchText sends a signed request, for stores without an SDK
   */
  list(
    prefix: string,
    fetchText: (request: StoreRequest) => Promise<string>,
  ): AsyncIterable<ListedObject[]>
  /** Creates the container if each module or provider has its own. */
  create?(): Promise<void>
}
