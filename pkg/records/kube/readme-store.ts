import { type Readme, readmeIn, readmeText } from '../readme/readme.ts'
import type { ObservedObject } from './object.ts'
import { compareStates, type KindComparison, type KindReplacement, type Store } from './store.ts'

interface Held {
  /** Undefined: not read yet, or there is none. */
  readonly readme: Readme | undefined
  /** True if the watch brings it, and so will tell when it goes. */
  readonly watched: boolean
  /** True where its text was dropped for want of room. */
  dropped?: boolean
  readonly metadata?: ObservedObject['metadata']
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
    if (this.#held.get(key)?.readme !== undefined) return
    this.#set(key, { readme: undefined, watched: false })
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

  /** The README as text; undefined if there is none, not yet, or none that the Version can show. */
  get(namespace: string, name: string, key: string, version: string): string | undefined {
    const readme = this.#used(namespace, name)?.readme
    return readme && readmeText(readme, key, version)
  }

  /**
   * Takes what was asked for by name, where the watch has not been faster with something newer.
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
    // The watch brings every ConfigMap with the label, whoever asked first.
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
