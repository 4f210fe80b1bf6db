import { type Readme, type Readmes, readmeIn, readmeText } from '../readme/readme.ts'
import type { ObservedObject } from './list-watch.ts'
import { ListedStore } from './listed-store.ts'
import { idOf, type KindComparison } from './store.ts'

type Metadata = ObservedObject['metadata']

/** A ConfigMap that modules name. */
interface Wanted {
  /** Number of the modules. */
  count: number
  /** Undefined if it was not read yet, does not exist, or was dropped to save memory. */
  readonly readme?: Readme | undefined
  /** Set if the watch delivers it, and so reports when it is deleted. */
  readonly watched?: Metadata | undefined
  readonly isDropped?: boolean
}

const defaultMaxBytes = 64 * 1024 * 1024

/**
 * Compressed READMEs of the ConfigMaps that are wanted, and nothing of others. If there are too many, the namespace with most
 * bytes loses its least recently read one. It is fetched by name when it is read again.
 */
export class ClusterReadmes extends ListedStore implements Readmes {
  readonly #apiGroup: string
  readonly #maxBytes: number
  /** By namespace and name, least recently read first. */
  readonly #wanted = new Map<string, Wanted>()
  /** Bytes of texts, by namespace. */
  readonly #bytes = new Map<string, number>()
  #onMissing: ((id: string) => void) | undefined
  #revision = 0
  #dropped = 0

  /** @param maxBytes limit of compressed READMEs */
  constructor(apiGroup: string, maxBytes = defaultMaxBytes) {
    super()
    this.#apiGroup = apiGroup
    this.#maxBytes = maxBytes
  }

  /** Compressed bytes in memory. */
  get bytes(): number {
    return this.#bytes.values().reduce((sum, bytes) => sum + bytes, 0)
  }

  get revision(): number {
    return this.#revision
  }

  /** Number of READMEs that were dropped to save memory. */
  get dropped(): number {
    return this.#dropped
  }

  /** READMEs that no watch delivers, so that they have to be read again from time to time. */
  get unwatched(): string[] {
    return [...this.#wanted].flatMap(([id, { watched, isDropped }]) =>
      watched === undefined && isDropped !== true ? [id] : [],
    )
  }

  /** Calls back with each wanted ConfigMap that the watch does not have, or no longer has, now and later. */
  fillBy(onMissing: (id: string) => void): void {
    this.#onMissing = onMissing
    for (const id of this.unwatched) onMissing(id)
  }

  readonly note: Readmes['note'] = (namespace, now, before) => {
    if (now?.name === before?.name) return
    if (now !== undefined) this.want(namespace, now.name)
    if (before !== undefined) this.forget(namespace, before.name)
  }

  want(namespace: string, name: string): void {
    const id = idOf({ metadata: { namespace, name } })
    const wanted = this.#wanted.get(id)
    if (wanted !== undefined) wanted.count += 1
    else {
      this.#wanted.set(id, { count: 1 })
      this.#onMissing?.(id)
    }
  }

  /** Takes one wish back. */
  forget(namespace: string, name: string): void {
    const id = idOf({ metadata: { namespace, name } })
    const wanted = this.#wanted.get(id)
    if (wanted === undefined) return
    wanted.count -= 1
    if (wanted.count === 0) this.#change(id, wanted, {})
  }

  get(namespace: string, name: string, key: string, version: string): string | undefined {
    const id = idOf({ metadata: { namespace, name } })
    const wanted = this.#wanted.get(id)
    if (wanted === undefined) return undefined
    if (wanted.isDropped === true) this.#onMissing?.(id)
    this.#set(id, { ...wanted, isDropped: false })
    return wanted.readme && readmeText(wanted.readme, key, version)
  }

  /**
   * Stores the answer to a request by name, unless the watch has already delivered something newer.
   *
   * @param object undefined if there is none
   */
  fetched(id: string, object: ObservedObject | undefined): void {
    const wanted = this.#wanted.get(id)
    if (wanted === undefined || wanted.watched !== undefined) return
    if (object !== undefined) this.keep(object)
    else if (wanted.readme !== undefined) this.#change(id, wanted, {})
  }

  /** Other ConfigMaps are not wanted, or read by name. */
  override compare(asOf: string): KindComparison {
    const states = super.compare(asOf)
    const isWatched = (object: ObservedObject) => this.isWatched(idOf(object))
    return { ...states, add: (listed) => !isWatched(listed) || states.add(listed) }
  }

  /** Whether the watch delivers a README, so that an answer to a request is not needed. */
  isWatched(id: string): boolean {
    return this.#wanted.get(id)?.watched !== undefined
  }

  protected held(namespace: string, name: string): Metadata | undefined {
    return this.#wanted.get(idOf({ metadata: { namespace, name } }))?.watched
  }

  protected *all(): Generator<Metadata> {
    for (const { watched } of this.#wanted.values()) if (watched !== undefined) yield watched
  }

  protected keep(object: ObservedObject): void {
    const id = idOf(object)
    const wanted = this.#wanted.get(id)
    if (wanted === undefined) return
    const readme = readmeIn(object, this.#apiGroup, (value) => Buffer.from(value, 'base64'))
    // The watch delivers every ConfigMap with the label, whoever requested it first.
    const watched = readme.owners === undefined ? object.metadata : undefined
    this.#change(id, wanted, { readme, watched })
    this.#makeRoom()
  }

  /** It was deleted, or only lost its label. A request by name tells. */
  protected drop(metadata: Pick<Metadata, 'namespace' | 'name'>): void {
    const id = idOf({ metadata })
    const wanted = this.#wanted.get(id)
    if (wanted === undefined) return
    this.#change(id, wanted, {})
    this.#onMissing?.(id)
  }

  #change(id: string, { count }: Wanted, found: Omit<Wanted, 'count'>): void {
    this.#revision += 1
    this.#set(id, { ...found, count })
  }

  #set(id: string, wanted: Wanted): void {
    const namespace = namespaceOf(id)
    const change = bytesOf(wanted) - bytesOf(this.#wanted.get(id))
    const bytes = (this.#bytes.get(namespace) ?? 0) + change
    if (bytes === 0) this.#bytes.delete(namespace)
    else this.#bytes.set(namespace, bytes)
    this.#wanted.delete(id)
    if (wanted.count > 0) this.#wanted.set(id, wanted)
  }

  #makeRoom(): void {
    while (this.bytes > this.#maxBytes) {
      const [largest] = [...this.#bytes].reduce((a, b) => (b[1] > a[1] ? b : a))
      const isOldest = ([id, wanted]: [string, Wanted]) =>
        namespaceOf(id) === largest && bytesOf(wanted) > 0
      const [id, { count }] = this.#wanted.entries().find(isOldest) ?? ['', { count: 0 }]
      this.#set(id, { count, isDropped: true })
      this.#dropped += 1
    }
  }
}

function namespaceOf(id: string): string {
  return id.slice(0, id.indexOf('/'))
}

function bytesOf(wanted: Wanted | undefined): number {
  let bytes = 0
  for (const text of wanted?.readme?.texts.values() ?? []) bytes += text.length
  return bytes
}
