import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { ApiError } from '../../records/kube/kube.ts'
import type { Objects, StoredObject } from '../../records/store/store.ts'

/** One process that is killed creates and deletes nothing any more. */
export class KilledError extends Error {}

/** A place where processes wait for each other. */
export class Meeting {
  readonly #all = Promise.withResolvers<void>()
  #missing: number

  constructor(processes: number) {
    this.#missing = processes
  }

  arrive(): Promise<void> {
    this.#missing -= 1
    if (this.#missing <= 0) this.#all.resolve()
    return this.#all.promise
  }
}

/** An API server in memory, whose answers and watches take random times. */
export class RacingCluster {
  readonly objects = new Map<string, StoredObject>()
  readonly #processes: RacingProcess[] = []
  readonly #random: () => number
  #revision = 0
  nowMs = Date.parse('2026-01-01T00:00:00Z')

  /** @param random 0 to 1 */
  constructor(random: () => number) {
    this.#random = random
  }

  /** A process that knows all objects. */
  start(): RacingProcess {
    const process = new RacingProcess(this)
    for (const [id, object] of this.objects) process.seen.set(id, object)
    this.#processes.push(process)
    return process
  }

  /** Waits for a moment: never, or some turns of the event loop. */
  async wait(): Promise<void> {
    for (let turns = Math.floor(this.#random() * 6); turns > 0; turns -= 1) await turn()
  }

  create(id: string, { kind, metadata, spec }: Parameters<Objects['create']>[0]): StoredObject {
    if (this.objects.has(id)) throw new ApiError('AlreadyExists', `${id} is there already`)
    this.#revision += 1
    const object: StoredObject = {
      kind,
      metadata: {
        labels: {},
        annotations: {},
        ownerReferences: [],
        finalizers: [],
        ...metadata,
        uid: randomUUID(),
        resourceVersion: String(this.#revision),
        generation: 1,
        creationTimestamp: `${new Date(this.nowMs).toISOString().slice(0, 19)}Z`,
      },
      spec,
    }
    this.#change(id, object)
    return object
  }

  delete(id: string, uid: string | undefined): void {
    const found = this.objects.get(id)
    if (found !== undefined && (uid === undefined || found.metadata.uid === uid)) {
      this.#change(id, undefined)
    }
  }

  #change(id: string, object: StoredObject | undefined): void {
    if (object === undefined) this.objects.delete(id)
    else this.objects.set(id, object)
    for (const process of this.#processes) process.watch(id, object)
  }
}

/** One of several processes that publish, each with a memory of its own. */
export class RacingProcess {
  readonly seen = new Map<string, StoredObject>()
  readonly #cluster: RacingCluster
  #watched: Promise<void> = Promise.resolve()
  /** The place where it waits before it creates its first Version. */
  meeting: Meeting | undefined
  /** How many more objects it creates and deletes before it is killed. */
  writesLeft = Infinity

  constructor(cluster: RacingCluster) {
    this.#cluster = cluster
  }

  /** Takes changes in their order. */
  watch(id: string, object: StoredObject | undefined): void {
    const before = this.#watched
    this.#watched = (async () => {
      await before
      await this.#cluster.wait()
      this.learn(id, object)
    })()
  }

  learn(id: string, object: StoredObject | undefined): void {
    if (object === undefined) this.seen.delete(id)
    else this.seen.set(id, object)
  }

  #write(): void {
    this.writesLeft -= 1
    if (this.writesLeft < 0) throw new KilledError('the process was killed')
  }

  objects(): Objects {
    const cluster = this.#cluster
    const idOf = (kind: string, namespace: string, name: string) => `${kind} ${namespace}/${name}`
    const own: Pick<
      Objects,
      'isFolder' | 'namespaces' | 'get' | 'list' | 'fresh' | 'create' | 'delete'
    > = {
      isFolder: false,
      namespaces: undefined,
      get: (kind, namespace, name) => this.seen.get(idOf(kind, namespace, name)),
      list: (kind, { namespace, ownerUid } = {}) =>
        [...this.seen.values()].filter(
          (one) =>
            one.kind === kind &&
            (namespace === undefined || one.metadata.namespace === namespace) &&
            (ownerUid === undefined || ownerUid === ''),
        ),
      fresh: async (kind, namespace, name) => {
        await cluster.wait()
        const id = idOf(kind, namespace, name)
        this.learn(id, cluster.objects.get(id))
        return this.seen.get(id)
      },
      create: async (object) => {
        const id = idOf(object.kind, object.metadata.namespace, object.metadata.name)
        await this.meeting?.arrive()
        this.meeting = undefined
        await cluster.wait()
        this.#write()
        const created = cluster.create(id, object)
        await cluster.wait()
        if (cluster.objects.get(id) === created) this.learn(id, created)
        return created
      },
      delete: async ({ kind, namespace, name }, { uid } = {}) => {
        await cluster.wait()
        this.#write()
        cluster.delete(idOf(kind, namespace, name), uid)
        await cluster.wait()
      },
    }
    return own as Objects
  }
}
