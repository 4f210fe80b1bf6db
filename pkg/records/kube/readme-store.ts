import { type Readme, readmeIn, readmeText } from '../readme/readme.ts'
import type { ObservedObject } from './list-watch.ts'
import { compareStates, type KindComparison, type KindReplacement, type Store } from './store.ts'

interface Held {
  /** Undefined if it was not read yet, or does not exist. */
  readonly readme: Readme | undefined
  /** Whether the watch delivers it, and so reports when it is deleted. */
  readonly watched: boolean
  /** Whether its text was dropped to save memory. */
  dropped?: boolean
  readonly metadata?: ObservedObject['metadata']
}

const defaultMaxBytes = 64 * 1024 * 1024

interface ReadmeStoreOptions {
  readonly apiGroup: string
  /** Called with a needed ConfigMap that the watch does not have, or no longer has. */
  readonly onMissing: (namespace: string, name: string) => void
  /** Called with each README that is dropped to save memory. */
  readonly onDropped: () => void
  /** Limit of compressed READMEs. Default: 64 MiB */
  readonly maxBytes?: number
}

/**
 * Compressed READMEs of the ConfigMaps that are needed, and nothing of others. If there are too many, the namespace with most
 * bytes loses its least recently read one. It is fetched by name when it is read again.
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
    if (this.#held.get(key)?.readme !== undefined) return
    this.#set(key, { readme: undefined, watched: false })
    this.#onMissing(namespace, name)
  }

  forget(namespace: string, name: string): void {
    this.#revision += 1
    this.#set(`${namespace}/${name}`, undefined)
  }

  /** READMEs that no watch delivers, so that they have to be read again from time to time. */
  get unwatched(): readonly (readonly [namespace: string, name: string])[] {
    const keys = [...this.#held]
      .filter(([, { watched, dropped }]) => !watched && !dropped)
      .map(([key]) => key)
    return keys.map((key) => [namespaceOf(key), key.slice(key.indexOf('/') + 1)])
  }

  /** Whether the watch delivers a README, so that an answer to a request is not needed. */
  isWatched(namespace: string, name: string): boolean {
    return this.#held.get(`${namespace}/${name}`)?.watched === true
  }

  /** The README as text; undefined if there is none, it has not arrived yet, or the Version may not show it. */
  get(namespace: string, name: string, key: string, version: string): string | undefined {
    const readme = this.#used(namespace, name)?.readme
    return readme && readmeText(readme, key, version)
  }

  /**
   * Stores the answer to a request by name, unless the watch has already delivered something newer.
   *
   * @param object undefined if there is none
   */
  fetched(namespace: string, name: string, object: ObservedObject | undefined): void {
    if (this.isWatched(namespace, name)) return
    if (object !== undefined) this.#hold(object)
    else if (this.#held.get(`${namespace}/${name}`)?.readme !== undefined) {
      this.#revision += 1
      this.#set(`${namespace}/${name}`, { readme: undefined, watched: false })
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
    // Other ConfigMaps are not needed, or read by name.
    return {
      add: (listed) => watched(keyOf(listed)) === undefined || states.add(listed),
      unlisted: () => states.unlisted(),
    }
  }

  upsert(object: ObservedObject): void {
    this.#hold(object)
  }

  /** It was deleted, or only lost its label. A request by name tells. */
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

  /** @param held undefined for nothing any more */
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
        this.#set(key, { readme: undefined, watched: false, dropped: true })
        this.#onDropped()
        break
      }
    }
  }

  #lose(key: string): void {
    if (!this.#held.has(key)) return
    this.#revision += 1
    this.#set(key, { readme: undefined, watched: false })
    this.#onMissing(namespaceOf(key), key.slice(key.indexOf('/') + 1))
  }

  #hold(object: ObservedObject): void {
    const key = keyOf(object)
    if (!this.#held.has(key)) return
    this.#revision += 1
    const readme = readmeIn(object, this.#apiGroup, (value) => Buffer.from(value, 'base64'))
    // The watch delivers every ConfigMap with the label, whoever requested it first.
    this.#set(key, { readme, watched: readme.owners === undefined, metadata: object.metadata })
    this.#makeRoom()
  }
}

function keyOf({ metadata: { namespace = '', name } }: ObservedObject): string {
  return `${namespace}/${name}`
}

function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'))
}

function bytesOf(held: Held | undefined): number {
  let bytes = 0
  for (const text of held?.readme?.texts.values() ?? []) bytes += text.length
  return bytes
}
