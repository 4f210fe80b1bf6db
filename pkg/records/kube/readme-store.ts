import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { interfaceKey, isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import { isText, type ObservedObject } from './object.ts'
import { compareStates, type KindComparison, type KindReplacement, type Store } from './store.ts'

/** Limit of an unpacked README: a ConfigMap has one megabyte at most. */
const maxTextBytes = 4 * 1024 * 1024

interface Held {
  /** README of each key, compressed; undefined: not read yet, or there is none. */
  texts: ReadonlyMap<string, Buffer> | undefined
  /** True where the watch brings it, and so will tell when it goes. */
  watched: boolean
  /** True where its text was dropped for want of room. */
  dropped?: boolean
  metadata?: ObservedObject['metadata']
  /** Names of the Versions that own it; undefined where its label says that it is anybody's README. */
  owners?: ReadonlySet<string> | undefined
}

const defaultMaxBytes = 64 * 1024 * 1024

interface ReadmeStoreOptions {
  readonly apiGroup: string
  /** Called with a ConfigMap that is wanted and that the watch does not have, or no longer. */
  readonly onMissing: (namespace: string, name: string) => void
  /** Called with each README that is dropped for want of room. */
  readonly onDropped: () => void
  /** Limit of compressed READMEs. Default: 64 MiB */
  readonly maxBytes?: number
}

/**
 * READMEs of the ConfigMaps that are wanted, compressed; of the others not a byte. If there are too many, the namespace with
 * most of them loses the one that was read least recently. It is fetched again by name once it is asked for.
 */
export class ReadmeStore implements Store {
  /** Least recently read first. */
  readonly #held = new Map<string, Held>()
  /** Bytes of texts, by namespace. */
  readonly #bytes = new Map<string, number>()
  readonly #maxBytes: number
  #totalBytes = 0
  #revision = 0
  readonly #apiGroup: string
  readonly #onMissing: (namespace: string, name: string) => void
  readonly #onDropped: () => void

  constructor({ apiGroup, onMissing, onDropped, maxBytes = defaultMaxBytes }: ReadmeStoreOptions) {
    this.#apiGroup = apiGroup
    this.#onMissing = onMissing
    this.#onDropped = onDropped
    this.#maxBytes = maxBytes
  }

  /** Compressed bytes in memory. */
  get bytes(): number {
    return this.#totalBytes
  }

  get revision(): number {
    return this.#revision
  }

  want(namespace: string, name: string): void {
    const key = `${namespace}/${name}`
    if (this.#held.get(key)?.texts !== undefined) return
    this.#set(key, { texts: undefined, watched: false })
    this.#onMissing(namespace, name)
  }

  forget(namespace: string, name: string): void {
    this.#revision += 1
    this.#set(`${namespace}/${name}`, undefined)
  }

  /** READMEs that no watch brings, so that they have to be read again now and then. */
  get unwatched(): readonly (readonly [namespace: string, name: string])[] {
    const keys = [...this.#held]
      .filter(([, { watched, dropped }]) => !watched && !dropped)
      .map(([key]) => key)
    return keys.map((key) => [namespaceOf(key), key.slice(key.indexOf('/') + 1)])
  }

  /** Tells whether the watch brings a README, so that an answer to a request is not needed. */
  isWatched(namespace: string, name: string): boolean {
    return this.#held.get(`${namespace}/${name}`)?.watched === true
  }

  /**
   * The README as text; undefined where there is none, or not yet, or where its ConfigMap is neither labelled as a README
   * nor owned by the Version: a user who may write a Version must not show what is in any ConfigMap.
   */
  get(namespace: string, name: string, key: string, version: string): string | undefined {
    const held = this.#used(namespace, name)
    if (held?.owners !== undefined && !held.owners.has(version)) return undefined
    const text = held?.texts?.get(key)
    return text && inflateRawSync(text, { maxOutputLength: maxTextBytes }).toString()
  }

  /**
   * Takes what was asked for by name, where the watch has not been faster with something newer.
   *
   * @param object undefined where there is none
   */
  fetched(namespace: string, name: string, object: ObservedObject | undefined): void {
    if (this.isWatched(namespace, name)) return
    if (object !== undefined) this.#hold(object)
    else if (this.#held.get(`${namespace}/${name}`)?.texts !== undefined) {
      this.#revision += 1
      this.#set(`${namespace}/${name}`, { texts: undefined, watched: false })
    }
  }

  replace(): KindReplacement {
    const seen = new Set<string>()
    return {
      add: (object) => {
        seen.add(keyOf(object))
        this.upsert(object)
      },
      delete: (object) => this.delete(object),
      commit: async () => {
        for (const [key, held] of this.#held) if (!seen.has(key) && held.watched) this.#lose(key)
      },
    }
  }

  compare(asOf: string): KindComparison {
    const watched = (key: string) => {
      const held = this.#held.get(key)
      return held?.watched === true ? held.metadata : undefined
    }
    const states = compareStates(asOf, {
      get: (namespace, name) => watched(`${namespace}/${name}`),
      all: () => [...this.#held.keys()].flatMap((key) => watched(key) ?? []),
    })
    // Others are not wanted, or read by name.
    return {
      add: (listed) => watched(keyOf(listed)) === undefined || states.add(listed),
      unlisted: () => states.unlisted(),
    }
  }

  upsert(object: ObservedObject): void {
    this.#hold(object)
  }

  /** Deleted, or only without its label now: asking for it by name tells. */
  delete(object: ObservedObject): void {
    this.#lose(keyOf(object))
  }

  #used(namespace: string, name: string): Held | undefined {
    const key = `${namespace}/${name}`
    const held = this.#held.get(key)
    if (held === undefined) return undefined
    if (held.dropped) this.#onMissing(namespace, name)
    held.dropped = false
    this.#held.delete(key)
    this.#held.set(key, held)
    return held
  }

  /** @param held undefined: nothing any more */
  #set(key: string, held: Held | undefined): void {
    const namespace = namespaceOf(key)
    const change = bytesOf(held) - bytesOf(this.#held.get(key))
    this.#totalBytes += change
    const ofNamespace = (this.#bytes.get(namespace) ?? 0) + change
    if (ofNamespace === 0) this.#bytes.delete(namespace)
    else this.#bytes.set(namespace, ofNamespace)
    this.#held.delete(key)
    if (held !== undefined) this.#held.set(key, held)
  }

  #makeRoom(): void {
    while (this.#totalBytes > this.#maxBytes) {
      const [largest] = [...this.#bytes].reduce((a, b) => (b[1] > a[1] ? b : a))
      for (const [key, held] of this.#held) {
        if (bytesOf(held) === 0 || namespaceOf(key) !== largest) continue
        this.#set(key, { texts: undefined, watched: false, dropped: true })
        this.#onDropped()
        break
      }
    }
  }

  #lose(key: string): void {
    if (!this.#held.has(key)) return
    this.#revision += 1
    this.#set(key, { texts: undefined, watched: false })
    this.#onMissing(namespaceOf(key), key.slice(key.indexOf('/') + 1))
  }

  #hold(object: ObservedObject): void {
    const key = keyOf(object)
    if (!this.#held.has(key)) return
    this.#revision += 1
    const { metadata } = object
    // The watch brings every ConfigMap with the label, whoever asked first.
    const watched = metadata.labels?.[`${this.#apiGroup}/readme`] !== undefined
    const owners = watched ? undefined : ownersOf(object, this.#apiGroup)
    this.#set(key, { texts: textsOf(object), watched, owners, metadata })
    this.#makeRoom()
  }
}

/** The Versions that own an object. */
function ownersOf({ metadata }: ObservedObject, apiGroup: string): ReadonlySet<string> {
  const { ownerReferences } = metadata
  const owners = new Set<string>()
  for (const owner of Array.isArray(ownerReferences) ? ownerReferences : []) {
    if (!isRecord(owner) || owner['kind'] !== 'Version') continue
    const { apiVersion, name } = owner
    if (isText(apiVersion) && isText(name) && apiVersion.startsWith(`${apiGroup}/`))
      owners.add(name)
  }
  return owners
}

/** Only keys whose value is text: `data` holds the README as base64. */
function textsOf(object: ObservedObject): ReadonlyMap<string, Buffer> {
  const { data } = object as { data?: unknown }
  const texts = new Map<string, Buffer>()
  if (!isRecord(data)) return texts
  for (const [key, value] of Object.entries(data)) {
    if (typeof value === 'string' && key !== interfaceKey) {
      texts.set(key, deflateRawSync(Buffer.from(value, 'base64'), { level: 3 }))
    }
  }
  return texts
}

function keyOf({ metadata: { namespace = '', name } }: ObservedObject): string {
  return `${namespace}/${name}`
}

function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'))
}

function bytesOf(held: Held | undefined): number {
  let bytes = 0
  for (const text of held?.texts?.values() ?? []) bytes += text.length
  return bytes
}
