import { jsonOf } from '../../base/errors/errors.ts'
import { readBounded } from '../../base/http/http.ts'
import { type ObservedObject, observe } from './list-watch.ts'
import { ApiError, apiErrorOf, Outcome } from './outcome.ts'
import { type AnyKind, pathOf, placeOf } from './paths.ts'
import type { Timings } from './timings.ts'
import type { Transport, Write } from './transport.ts'

/** etcd refuses objects of more than a few megabytes. */
const maxObjectBytes = 16 * 1024 * 1024

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'test'
  /** A JSON pointer, such as `/spec/forceSync`. */
  readonly path: string
  readonly value?: unknown
}

/** A merge patch, or a JSON patch if it is a list. */
export type ObjectPatch = Readonly<Record<string, unknown>> | readonly JsonPatchOperation[]

/** An object to write. Its `apiVersion` is filled in. */
interface ObjectToWrite {
  readonly kind: WrittenKind
  readonly metadata: {
    readonly namespace: string
    readonly name?: string
    readonly [field: string]: unknown
  }
  readonly [field: string]: unknown
}

interface RequestOptions {
  /** Aborts the request. Default: none; the deadlines of the client apply. */
  readonly signal?: AbortSignal | undefined
  /**
   * Decides right before the first byte whether a write is still allowed, because credentials and connections may delay it.
   */
  readonly mayBegin?: (() => boolean) | undefined
}

interface ClientOptions {
  readonly transport: Transport
  readonly apiGroup: string
  readonly timings: Timings
}

interface ApiRequest {
  /** Path and query under the address of the API server. */
  readonly path: string
  /** Names the request in errors, such as `get modules team/vpc`. */
  readonly doing: string
  /** Default: a GET. */
  readonly write?: Write
}

export type KubeClient = Pick<ApiClient, keyof ApiClient>

/** Reads and writes single objects of a cluster. Every method throws ApiError. */
export class ApiClient {
  readonly #options: ClientOptions

  constructor(options: ClientOptions) {
    this.#options = options
  }

  /** @throws ApiError NotFound if it does not exist */
  get(ref: ObjectRef, options?: RequestOptions): Promise<ObservedObject> {
    return this.#object({ path: this.#pathOf(ref), doing: this.#named('get', ref) }, options)
  }

  /** @throws ApiError AlreadyExists */
  create(given: ObjectToWrite, options?: RequestOptions): Promise<ObservedObject> {
    const { kind, metadata } = given
    const { namespace, name = '' } = metadata
    const write = { method: 'POST', contentType: json, body: this.#bodyOf(given) } as const
    const doing = this.#named('create', { kind, namespace, name })
    return this.#object({ path: this.#pathOf({ kind, namespace }), doing, write }, options)
  }

  /**
   * Server-side apply: creates the object, or sets these fields and leaves those of others unchanged. Fields that this field
   * manager applied before and omits now are removed.
   */
  apply(
    given: ObjectToWrite,
    fieldManager: string,
    options?: RequestOptions,
  ): Promise<ObservedObject> {
    const { namespace, name = '' } = given.metadata
    const ref = { kind: given.kind, namespace, name }
    const write = { method: 'PATCH', contentType: applyPatch, body: this.#bodyOf(given) } as const
    const query = `?force=true&fieldManager=${encodeURIComponent(fieldManager)}`
    const path = `${this.#pathOf(ref)}${query}`
    return this.#object({ path, doing: this.#named('apply', ref), write }, options)
  }

  /**
   * Changes an object.
   *
   * @param options.resourceVersion the state that the patch was made from. Default: any
   * @throws ApiError Conflict if the object is in another state; Invalid if a `test` of a JSON patch fails
   */
  patch(
    ref: ObjectRef,
    patch: ObjectPatch,
    options?: RequestOptions & { readonly resourceVersion?: string | undefined },
  ): Promise<ObservedObject> {
    const write = patchOf(patch, options?.resourceVersion)
    const doing = this.#named('patch', ref)
    return this.#object({ path: this.#pathOf(ref), doing, write }, options)
  }

  /**
   * Replaces the whole status, by the status subresource.
   *
   * @throws ApiError Conflict if the object is no longer in the state `resourceVersion`
   */
  writeStatus(
    ref: ObjectRef & { readonly resourceVersion: string },
    status: unknown,
    options?: RequestOptions,
  ): Promise<ObservedObject> {
    const path = `${this.#pathOf(ref)}/status`
    const value = [{ op: 'add', path: '/status', value: status }] as const
    const write = patchOf(value, ref.resourceVersion)
    return this.#object({ path, doing: this.#named('patch', ref, '/status'), write }, options)
  }

  /**
   * Deletes an object. A missing one is not an error.
   *
   * @param options.uid only deletes the object with this uid
   * @returns the object, if it has to wait for its finalizers
   */
  async delete(
    ref: ObjectRef,
    options?: RequestOptions & { readonly uid?: string },
  ): Promise<ObservedObject | undefined> {
    const preconditions = options?.uid === undefined ? undefined : { uid: options.uid }
    const body = JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', preconditions })
    const write = { method: 'DELETE', contentType: json, body } as const
    const doing = this.#named('delete', ref)
    try {
      return await this.#exchange({ path: this.#pathOf(ref), doing, write }, options)
    } catch (error) {
      // With another uid, it is another object, and the intended one no longer exists.
      const isGone = error instanceof ApiError && goneReasons.has(error.reason)
      if (!isGone) throw error
      return undefined
    }
  }

  async #object(request: ApiRequest, options: RequestOptions | undefined): Promise<ObservedObject> {
    const found = await this.#exchange(request, options)
    if (found !== undefined) return found
    throw new ApiError(
      'Unavailable',
      `${request.doing}: the answer is not an object; check whether a proxy answers instead of the API server`,
    )
  }

  async #exchange(
    { path, doing, write }: ApiRequest,
    { signal = new AbortController().signal, mayBegin }: RequestOptions = {},
  ): Promise<ObservedObject | undefined> {
    const { transport, timings } = this.#options
    const { headersMs: idleMs, pageMs: deadlineMs } = timings
    const once = () =>
      transport.read(
        { path, signal, idleMs, deadlineMs, ...(write && { write, mayBegin }) },
        async (body) => observe(jsonOf(String(await readBounded(body, maxObjectBytes)))),
      )
    let answer = await once()
    if (answer instanceof Outcome && answer.reason === 'Unauthenticated') {
      transport.reload()
      answer = await once()
    }
    if (!(answer instanceof Outcome)) return answer
    if (answer.reason === 'Unreachable') transport.recheck()
    throw apiErrorOf(answer, doing)
  }

  #bodyOf(given: ObjectToWrite): string {
    return JSON.stringify({
      apiVersion: placeOf(given.kind, this.#options.apiGroup).version,
      ...given,
    })
  }

  #pathOf(ref: Omit<ObjectRef, 'name'> & { readonly name?: string }): string {
    return pathOf(ref, this.#options.apiGroup)
  }

  #named(verb: string, { kind, namespace, name }: ObjectRef, subresource = ''): string {
    return `${verb} ${placeOf(kind, this.#options.apiGroup).plural}${subresource} ${namespace}/${name}`
  }
}

const goneReasons: ReadonlySet<string> = new Set(['NotFound', 'Conflict'])
const json = 'application/json'
const applyPatch = 'application/apply-patch+yaml'

/** The API server compares the resourceVersion of a patch, and answers 409 if it differs. */
function patchOf(patch: ObjectPatch, resourceVersion: string | undefined): Write {
  if (isOperations(patch)) {
    const path = '/metadata/resourceVersion'
    const state = { op: 'replace', path, value: resourceVersion } as const
    const body = JSON.stringify(resourceVersion === undefined ? patch : [state, ...patch])
    return { method: 'PATCH', contentType: 'application/json-patch+json', body }
  }
  const metadata = { ...(patch['metadata'] as object | undefined), resourceVersion }
  const body = JSON.stringify(resourceVersion === undefined ? patch : { ...patch, metadata })
  return { method: 'PATCH', contentType: 'application/merge-patch+json', body }
}

function isOperations(patch: ObjectPatch): patch is readonly JsonPatchOperation[] {
  return Array.isArray(patch)
}

/** A kind that is written by name. */
type WrittenKind = Exclude<AnyKind, 'Namespace'>

/** The object of a request. */
interface ObjectRef {
  readonly kind: WrittenKind
  readonly namespace: string
  readonly name: string
}
