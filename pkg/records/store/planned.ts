import { isDeepStrictEqual } from 'node:util'
import { apiVersionOf } from '../../api/v1alpha1/v1alpha1.ts'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { ApiError } from '../kube/kube.ts'
import { applied, identified, patched, requireValid } from './folder/object-rules.ts'
import { ObjectMemory, objectKinds } from './memory.ts'
import type { AppliedObject, Objects, StoredObject, StoredRef } from './types.ts'

interface PlanOptions {
  readonly apiGroup: string
  readonly clock: () => number
}

/**
 * Objects that can be written without consequences: a copy in memory of other objects, which do not change. Deleting an object
 * deletes its dependents at once, and waits for no finalizer.
 *
 * @param base is read once, when it is ready
 */
export function plannedObjects(base: Objects, options: PlanOptions): Objects {
  const state = new PlannedState(base, options)
  const { memory } = state
  return {
    namespaces: base.namespaces,
    isFolder: base.isFolder,
    ready: Promise.resolve(),
    unreadable: () => base.unreadable(),
    waitsForFinalizers: (object) => base.waitsForFinalizers(object),
    get: (kind, namespace, name) => memory.get(kind, namespace, name),
    list: (kind, filter) => memory.list(kind, filter),
    onChange: (listener) => memory.onChange(listener),
    fresh: async (kind, namespace, name) => memory.get(kind, namespace, name),
    apply: async (object) => state.apply(object),
    create: async (object) => state.create(object),
    async patch(ref, patch, given) {
      const before = state.existing(ref, given?.resourceVersion)
      return state.keep(before, whole(before, patched({ ...before }, patch)))
    },
    async writeStatus({ kind, metadata }, status) {
      const before = state.existing({ kind, ...metadata }, metadata.resourceVersion)
      return state.keep(before, {
        ...before,
        status: JSON.parse(JSON.stringify(status)) as unknown,
      })
    },
    async delete(ref, given) {
      const { uid } = state.get(ref)?.metadata ?? {}
      if (given?.uid === undefined || given.uid === uid) state.remove(ref)
    },
    writeReadme: async () => undefined,
    hasReadme: (version, keys) => base.hasReadme(version, keys),
    event: () => undefined,
    secret: (namespace, name) => base.secret(namespace, name),
    notes: {
      // Some users of a plan may not read Secrets.
      all: () => base.notes.all().catch(() => new Map<string, string>()),
      put: async () => undefined,
      drop: async () => undefined,
    },
    close: async () => undefined,
  }
}

/** The copy, with increasing resource versions. */
class PlannedState {
  readonly memory = new ObjectMemory(createLogger('silent'))
  readonly #options: PlanOptions
  #revision = 0

  constructor(base: Objects, options: PlanOptions) {
    this.#options = options
    for (const kind of objectKinds) for (const object of base.list(kind)) this.memory.set(object)
  }

  get({ kind, namespace, name }: StoredRef): StoredObject | undefined {
    return this.memory.get(kind, namespace, name)
  }

  /** @throws ApiError NotFound or Conflict */
  existing(ref: StoredRef, resourceVersion: string | undefined): StoredObject {
    const what = `${ref.kind} ${ref.namespace}/${ref.name}`
    const object = this.get(ref)
    if (object === undefined) throw new ApiError('NotFound', `${what} does not exist`)
    const { resourceVersion: held } = object.metadata
    if (resourceVersion === undefined || resourceVersion === held) return object
    throw new ApiError('Conflict', `${what} was changed meanwhile`)
  }

  apply(object: AppliedObject): StoredObject {
    const { apiGroup, clock } = this.#options
    const before = this.get({ kind: object.kind, ...object.metadata })
    const after =
      before === undefined
        ? created(object, new Date(clock()).toISOString())
        : whole(before, applied({ ...before }, object))
    const value = { apiVersion: apiVersionOf(object.kind, apiGroup), ...after }
    requireValid({ kind: object.kind, ...object.metadata }, value, { withRules: true })
    return this.keep(before, after)
  }

  /** @throws ApiError AlreadyExists */
  create(object: AppliedObject): StoredObject {
    const { kind, metadata } = object
    if (this.get({ kind, ...metadata }) === undefined) return this.apply(object)
    const what = `${kind} ${metadata.namespace}/${metadata.name}`
    throw new ApiError('AlreadyExists', `${what} exists already`)
  }

  keep(before: StoredObject | undefined, after: StoredObject): StoredObject {
    if (isDeepStrictEqual(before, after)) return after
    this.#revision += 1
    const generation = before?.metadata.generation ?? 0
    const isSameSpec = isDeepStrictEqual(before?.spec, after.spec)
    const object = {
      ...after,
      metadata: {
        ...after.metadata,
        resourceVersion: `planned-${this.#revision}`,
        generation: isSameSpec ? generation : generation + 1,
      },
    }
    this.memory.set(object)
    return object
  }

  /** Removes an object and its dependents. */
  remove(ref: StoredRef): void {
    const object = this.get(ref)
    if (object === undefined) return
    this.memory.delete(ref)
    for (const kind of objectKinds) {
      for (const { metadata } of this.memory.list(kind, { ownerUid: object.metadata.uid })) {
        this.remove({ kind, namespace: metadata.namespace, name: metadata.name })
      }
    }
  }
}

function created({ kind, metadata, spec }: AppliedObject, creationTimestamp: string): StoredObject {
  const value = { metadata: { ...metadata, creationTimestamp }, spec }
  return identified(kind, JSON.parse(JSON.stringify(value)), '')
}

/** Fields that a change of one object leaves in their form. */
function whole(before: StoredObject, after: Readonly<Record<string, unknown>>): StoredObject {
  return { ...before, ...after }
}
