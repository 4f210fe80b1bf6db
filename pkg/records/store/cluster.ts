import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { apiVersionOf } from '../../api/v1alpha1/v1alpha1.ts'
import { hasReason, ifFound } from '../../base/errors/errors.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import { ApiError, type Cluster, type KubeClient } from '../kube/kube.ts'
import { isReadmeOf, type ReadmeTexts, readmeObject, readmeRefOf } from '../readme/readme.ts'
import { AppliedFields, ClusterStore, isApplied } from './cluster-store.ts'
import { EventRecorder } from './events.ts'
import { ObjectMemory, objectKinds, record, textsIn } from './memory.ts'
import { readmeTaken } from './readme.ts'
import type { Notes, ObjectKind, Objects, SharedNotes, StoredObject, StoredRef } from './types.ts'

interface ClusterObjectsOptions {
  readonly cluster: Pick<Cluster, 'observe'>
  /** Client for writes. It may refuse while this replica must not write. */
  readonly client: KubeClient
  /** Client for `create`. Default: `client`. */
  readonly creator?: KubeClient
  readonly apiGroup: string
  /** Default: all kinds but GroupBindings. */
  readonly kinds?: readonly ObjectKind[]
  /** Namespaces whose objects are stored. Default: all. */
  readonly namespaces?: readonly string[] | undefined
  /** The ConfigMaps for notes: their namespace, and the prefix of their names. */
  readonly notes: { readonly namespace: string; readonly name: string }
  /** The ConfigMaps for notes about publications. Default: nobody publishes over HTTP. */
  readonly publications?: { readonly namespace: string; readonly name: string }
  /** Name of this replica, for Events. */
  readonly instance: string
  readonly log: Logger
  /** Default: Date.now. */
  readonly clock?: Clock
}

/** Field managers, one for each controller, so that each recognizes the fields that it applied. */
const fieldManagers: Readonly<Record<ObjectKind, string>> = {
  Depot: 'depot-controller',
  Module: 'depot-controller-depot',
  Provider: 'depot-controller-depot',
  Version: 'depot-controller-parent',
  // Its spec is never applied.
  GroupBinding: 'depot-controller',
}

/** The objects of a cluster. Closing them does not close the cluster. */
export const clusterObjects = (options: ClusterObjectsOptions): Objects =>
  new ObjectsOfCluster(options)

/** Watches the objects, and writes them. The answer to each write is in memory at once. */
class ObjectsOfCluster implements Objects {
  readonly isFolder = false
  readonly namespaces: readonly string[] | undefined
  readonly ready: Promise<void>
  readonly notes: Notes
  readonly publications?: SharedNotes
  readonly #memory: ObjectMemory
  readonly #client: KubeClient
  readonly #creator: KubeClient
  readonly #apiGroup: string
  readonly #events: EventRecorder
  readonly #stores = new Map<string, ClusterStore>()

  constructor(options: ClusterObjectsOptions) {
    const { client, creator = client, apiGroup, namespaces, instance, clock = Date.now } = options
    const log = options.log.child({ component: 'objects' })
    const apiVersion = apiVersionOf('Version', apiGroup)
    this.namespaces = namespaces
    this.notes = clusterNotes(client, options.notes)
    if (options.publications) this.publications = clusterNotes(creator, options.publications)
    this.#memory = new ObjectMemory(log)
    this.#client = client
    this.#creator = creator
    this.#apiGroup = apiGroup
    this.#events = new EventRecorder({ client, apiVersion, instance, log, clock })
    this.ready = this.#watch(options)
  }

  async #watch({ cluster, kinds = objectKinds, namespaces }: ClusterObjectsOptions) {
    const appliedFields = new AppliedFields()
    const memory = this.#memory
    const watches = (namespaces ?? [undefined]).map((namespace) =>
      cluster.observe({
        kinds,
        scope: { watchNamespace: namespace, bindingsNamespace: namespace ?? 'default' },
        storeOf: (kind) => {
          const fieldManager = fieldManagers[kind]
          const store = new ClusterStore({ kind, namespace, fieldManager, appliedFields, memory })
          this.#stores.set(storeKey(kind, namespace), store)
          return store
        },
      }),
    )
    await Promise.all(watches.map(({ ready }) => ready))
  }

  readonly close = () => this.#events.close()
  readonly unreadable = () => undefined
  readonly waitsForFinalizers = () => true
  readonly get: Objects['get'] = (...key) => this.#memory.get(...key)
  readonly list: Objects['list'] = (...wanted) => this.#memory.list(...wanted)
  readonly onChange: Objects['onChange'] = (listener) => this.#memory.onChange(listener)
  readonly event: Objects['event'] = (event) => this.#events.record(event)
  readonly writeReadme: Objects['writeReadme'] = (version, texts) =>
    writeReadme(this.#client, this.#apiGroup, version, texts)

  readonly hasReadme: Objects['hasReadme'] = async ({ metadata }, keys) => {
    const data = record(record(await ifFound(this.#client.get(readmeRef(metadata))))['data'])
    return keys.every((key) => key in data)
  }

  readonly secret: Objects['secret'] = async (namespace, name) => {
    const found = await ifFound(this.#client.get({ kind: 'Secret', namespace, name }))
    return found && secretValues(record(found)['data'])
  }

  readonly fresh: Objects['fresh'] = async (kind, namespace, name) => {
    const ref = { kind, namespace, name }
    const store = this.#storeOf(ref)
    const answer = await ifFound(this.#client.get(ref))
    return answer && store.learn(answer)
  }

  readonly apply: Objects['apply'] = async ({ kind, metadata, spec }) => {
    const store = this.#storeOf({ kind, ...metadata })
    const held = this.#memory.get(kind, metadata.namespace, metadata.name)
    const applied = store.appliedTo(metadata)
    if (held !== undefined && isApplied({ kind, metadata, spec }, held, applied)) return held
    const wanted = { kind, metadata: { ...metadata }, spec }
    return store.learn(await this.#client.apply(wanted, fieldManagers[kind]))
  }

  readonly create: Objects['create'] = async ({ kind, metadata, spec }) => {
    const store = this.#storeOf({ kind, ...metadata })
    return store.learn(await this.#creator.create({ kind, metadata: { ...metadata }, spec }))
  }

  readonly patch: Objects['patch'] = async (ref, patch, given) => {
    const store = this.#storeOf(ref)
    return store.learn(await this.#client.patch(ref, patch, given))
  }

  readonly writeStatus: Objects['writeStatus'] = async (object, status) => {
    const { kind, metadata } = object
    const { namespace, name, resourceVersion } = metadata
    const ref = { kind, namespace, name, resourceVersion }
    const store = this.#storeOf(ref)
    const wanted: unknown = JSON.parse(JSON.stringify(status))
    if (isDeepStrictEqual(object.status, wanted)) return object
    return store.learn(await this.#client.writeStatus(ref, wanted))
  }

  readonly delete: Objects['delete'] = async (ref, given) => {
    const store = this.#storeOf(ref)
    const by = given?.byAnyReplica === true ? this.#creator : this.#client
    const answer = await by.delete(ref, given)
    if (answer !== undefined) store.learn(answer)
  }

  /** @throws ApiError Forbidden outside of the watched namespaces */
  #storeOf({ kind, namespace }: Omit<StoredRef, 'name'>): ClusterStore {
    const watched = this.namespaces === undefined ? undefined : namespace
    const store = this.#stores.get(storeKey(kind, watched))
    if (store !== undefined) return store
    throw new ApiError(
      'Forbidden',
      `namespace ${namespace} is not among those that are watched; add it to --watch-namespaces`,
    )
  }
}

const storeKey = (kind: ObjectKind, namespace: string | undefined): string =>
  `${kind} ${namespace ?? ''}`

const readmeRef = ({ namespace, name }: StoredObject['metadata']) =>
  ({ kind: 'ConfigMap', namespace, name: readmeRefOf({ name }).name }) as const

async function writeReadme(
  client: KubeClient,
  apiGroup: string,
  { metadata }: StoredObject,
  texts: ReadmeTexts | undefined,
): Promise<void> {
  const ref = readmeRef(metadata)
  const wanted = texts && readmeObject(metadata, texts, apiGroup)
  if (wanted !== undefined) {
    const creating = client.create(wanted).catch((error: unknown) => {
      if (!hasReason(error, 'AlreadyExists')) throw error
      return undefined
    })
    if ((await creating) !== undefined) return
  }
  const found = await ifFound(client.get(ref))
  const isOurs = found !== undefined && isReadmeOf(metadata, found, apiGroup)
  if (!isOurs) {
    if (wanted !== undefined) throw readmeTaken(metadata)
  } else if (wanted === undefined) {
    await client.delete(ref, { uid: found.metadata.uid ?? '' })
  } else {
    const { labels, ownerReferences } = wanted.metadata
    const absent = Object.keys(record(record(found)['data'])).map((key) => [key, null] as const)
    const data = { ...Object.fromEntries(absent), ...wanted.data }
    // An API server writes nothing if the object has all of that.
    const patch = { metadata: { labels, ownerReferences }, data }
    await client.patch(ref, patch, { resourceVersion: found.metadata.resourceVersion })
  }
}

/** Values of a Secret, which a cluster encodes as base64. */
const secretValues = (data: unknown): Readonly<Record<string, Buffer>> =>
  Object.fromEntries(
    Object.entries(textsIn(data)).map(([key, value]) => [key, Buffer.from(value, 'base64')]),
  )

/** etcd stores about a megabyte for an object, so notes are spread over this many. */
const maps = 16

/** Notes in ConfigMaps of one namespace. */
function clusterNotes(
  client: KubeClient,
  { namespace, name: prefix }: { readonly namespace: string; readonly name: string },
): SharedNotes {
  const nameOf = (part: number) => `${prefix}-${part}`
  const mapOf = (key: string) => {
    const name = nameOf(Number.parseInt(hash('sha256', key).slice(0, 4), 16) % maps)
    return { kind: 'ConfigMap', namespace, name } as const
  }
  const write = async (key: string, text: string | null) => {
    const ref = mapOf(key)
    const patch = () => client.patch(ref, { data: { [key]: text } })
    if ((await ifFound(patch())) !== undefined || text === null) return
    const { kind, name } = ref
    await client
      .create({ kind, metadata: { namespace, name }, data: { [key]: text } })
      .catch((failure: unknown) => {
        if (!hasReason(failure, 'AlreadyExists')) throw failure
        return patch()
      })
  }
  return {
    async all() {
      // All at once: a process that becomes leader waits for them.
      const read = Array.from({ length: maps }, (_, part) =>
        ifFound(client.get({ kind: 'ConfigMap', namespace, name: nameOf(part) })),
      )
      const found = await Promise.all(read)
      return new Map(
        found
          .flatMap((map) => Object.entries(record(record(map)['data'])))
          .map(([key, text]) => [key, String(text)]),
      )
    },
    async get(key) {
      const text = record(record(await ifFound(client.get(mapOf(key))))['data'])[key]
      return typeof text === 'string' ? text : undefined
    },
    put: (key, text) => write(key, text),
    drop: (key) => write(key, null),
  }
}
