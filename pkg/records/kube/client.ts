import { apiVersion, type Kind, kinds } from '../../api/v1alpha1/v1alpha1.ts'
import { jsonOf } from '../../base/errors/errors.ts'
import { readBounded } from '../../base/http/http.ts'
import { ApiError, apiErrorOf } from './api-error.ts'
import { type ObservedObject, observe } from './object.ts'
import { Outcome } from './outcome.ts'
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

/** An object to be written: its `apiVersion` is filled in. */
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
  /** Gives the request up. Default: none, the deadlines of the client hold. */
  readonly signal?: AbortSignal | undefined
  /** Decides right before the first byte whether a write is still allowed: credentials and connections may delay it. */
  readonly mayBegin?: (() => boolean) | undefined
}

/** Reads and writes single objects of a cluster. Every method throws ApiError. */
export interface KubeClient {
  /** @throws ApiError NotFound if it is not there */
  get(ref: ObjectRef, options?: RequestOptions): Promise<ObservedObject>
  /** @throws ApiError AlreadyExists */
  create(object: ObjectToWrite, options?: RequestOptions): Promise<ObservedObject>
  /**
   * Server-side apply: creates the object, or makes these fields what they are here and leaves those of others alone. What
   * this field manager wrote before and leaves out now is removed.
   */
  apply(
    object: ObjectToWrite,
    fieldManager: string,
    options?: RequestOptions,
  ): Promise<ObservedObject>
  /**
   * A merge patch, or a JSON patch where it is a list.
   *
   * @param options.resourceVersion the state that the patch was made from. Default: any
   * @throws ApiError Conflict if the object is in another state; Invalid if a `test` of a JSON patch fails
   */
  patch(
    ref: ObjectRef,
    patch: Readonly<Record<string, unknown>> | readonly JsonPatchOperation[],
    options?: RequestOptions & { readonly resourceVersion?: string | undefined },
  ): Promise<ObservedObject>
  /**
   * Replaces the whole status, by the status subresource.
   *
   * @throws ApiError Conflict if the object is not in the state `resourceVersion` any more
   */
  writeStatus(
    ref: ObjectRef & { readonly resourceVersion: string },
    status: unknown,
    options?: RequestOptions,
  ): Promise<ObservedObject>
  /**
   * Deletes an object; a missing one is not an error.
   *
   * @param options.uid only the object that has this uid
   * @returns the object, if it has to wait for its finalizers
   */
  delete(
    ref: ObjectRef,
    options?: RequestOptions & { readonly uid?: string },
  ): Promise<ObservedObject | undefined>
}

export function createClient({
  transport,
  apiGroup,
  timings,
}: {
  readonly transport: Transport
  readonly apiGroup: string
  readonly timings: Timings
}): KubeClient {
  const exchange = async (
    path: string,
    doing: string,
    write: Write | undefined,
    { signal = new AbortController().signal, mayBegin }: RequestOptions = {},
  ): Promise<ObservedObject | undefined> => {
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

  const object = async (...request: Parameters<typeof exchange>): Promise<ObservedObject> => {
    const found = await exchange(...request)
    if (found !== undefined) return found
    throw new ApiError(
      'Unavailable',
      `${request[1]}: the answer is not an object; check whether a proxy answers instead of the API server`,
    )
  }

  const complete = (given: ObjectToWrite): string =>
    JSON.stringify({ apiVersion: placeOf(given.kind, apiGroup).version, ...given })
  const named = (verb: string, ref: ObjectRef, subresource = ''): string =>
    `${verb} ${placeOf(ref.kind, apiGroup).plural}${subresource} ${ref.namespace}/${ref.name}`

  return {
    get: (ref, options) => object(pathOf(ref, apiGroup), named('get', ref), undefined, options),
    create(given, options) {
      const { namespace } = given.metadata
      const ref = { kind: given.kind, namespace }
      const write = { method: 'POST', contentType: json, body: complete(given) } as const
      const doing = named('create', { ...ref, name: given.metadata.name ?? '' })
      return object(pathOf(ref, apiGroup), doing, write, options)
    },
    apply(given, fieldManager, options) {
      const { namespace, name = '' } = given.metadata
      const ref = { kind: given.kind, namespace, name }
      const body = complete(given)
      const write = { method: 'PATCH', contentType: applyPatch, body } as const
      const query = `?force=true&fieldManager=${encodeURIComponent(fieldManager)}`
      return object(`${pathOf(ref, apiGroup)}${query}`, named('apply', ref), write, options)
    },
    patch(ref, patch, options) {
      const write = patchOf(patch, options?.resourceVersion)
      return object(pathOf(ref, apiGroup), named('patch', ref), write, options)
    },
    writeStatus(ref, status, options) {
      const path = `${pathOf(ref, apiGroup)}/status`
      const value = [{ op: 'add', path: '/status', value: status }] as const
      const write = patchOf(value, ref.resourceVersion)
      return object(path, named('patch', ref, '/status'), write, options)
    },
    async delete(ref, options) {
      const preconditions = options?.uid === undefined ? undefined : { uid: options.uid }
      const body = JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', preconditions })
      const write = { method: 'DELETE', contentType: json, body } as const
      try {
        return await exchange(pathOf(ref, apiGroup), named('delete', ref), write, options)
      } catch (error) {
        // With another uid it is another object: the one that was meant is gone.
        const isGone = error instanceof ApiError && goneReasons.has(error.reason)
        if (!isGone) throw error
        return undefined
      }
    },
  }
}

const goneReasons: ReadonlySet<string> = new Set(['NotFound', 'Conflict'])
const json = 'application/json'
const applyPatch = 'application/apply-patch+yaml'

/** The resourceVersion in a patch makes the API server compare it, and answer 409 where it differs. */
function patchOf(
  patch: Readonly<Record<string, unknown>> | readonly JsonPatchOperation[],
  resourceVersion: string | undefined,
): Write {
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

function isOperations(patch: object): patch is readonly JsonPatchOperation[] {
  return Array.isArray(patch)
}

/** Kinds that are not Depot's own and that it reads or writes one by one. */
const others = {
  ConfigMap: { root: '/api/v1', version: 'v1', plural: 'configmaps' },
  Secret: { root: '/api/v1', version: 'v1', plural: 'secrets' },
  Event: { root: '/apis/events.k8s.io/v1', version: 'events.k8s.io/v1', plural: 'events' },
  Lease: {
    root: '/apis/coordination.k8s.io/v1',
    version: 'coordination.k8s.io/v1',
    plural: 'leases',
  },
} as const

/** A kind that is written by name. */
type WrittenKind = Exclude<Kind, 'Namespace'> | keyof typeof others

/** The object of a request. */
interface ObjectRef {
  readonly kind: WrittenKind
  readonly namespace: string
  readonly name: string
}

interface Place {
  /** Path of the API, such as `/apis/depot.internal/v1alpha1`. */
  readonly root: string
  /** As objects carry it. */
  readonly version: string
  readonly plural: string
}

function placeOf(kind: WrittenKind, apiGroup: string): Place {
  if (isOther(kind)) return others[kind]
  const version = `${apiGroup}/${apiVersion}`
  return { root: `/apis/${version}`, version, plural: kinds[kind].plural }
}

/** Path of a collection, or of an object in it. */
function pathOf(
  { kind, namespace, name }: Omit<ObjectRef, 'name'> & { readonly name?: string },
  apiGroup: string,
): string {
  const { root, plural } = placeOf(kind, apiGroup)
  const collection = `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`
}

function isOther(kind: WrittenKind): kind is keyof typeof others {
  return kind in others
}
