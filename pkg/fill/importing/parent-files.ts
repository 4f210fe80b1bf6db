import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Document, isSeq, parseDocument, stringify } from 'yaml'
import * as z from 'zod'
import { ifExists } from '../../base/errors/errors.ts'
import { writeFile } from '../../records/store/store.ts'
import { freeName, objectName } from '../sync/sync.ts'
import {
  configOf,
  entryOf,
  fits,
  type ImportManifestOptions,
  isAfter,
  keyOf,
  ListedEntry,
  OwnerConfig,
} from './fields.ts'
import type { ImportItem, ImportParent } from './item.ts'

/** The file of a Module or Provider. */
export interface ParentPlace {
  readonly path: string
  /** Its metadata.name. */
  readonly name: string
  /** Whether the file existed before this import. */
  readonly wasThere: boolean
}

const ParentFile = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z
    .object({
      moduleConfig: OwnerConfig.optional(),
      providerConfig: OwnerConfig.optional(),
      versions: z.array(ListedEntry).default([]),
    })
    .refine(({ moduleConfig, providerConfig }) => moduleConfig ?? providerConfig),
})

interface Parent {
  readonly config: z.infer<typeof OwnerConfig>
  readonly versions: readonly ListedEntry[]
}

/** A version to add to a file. Items of one file have the same parent, because names of different parents differ. */
interface Addition {
  readonly place: ParentPlace
  readonly item: ImportItem
}

/** The facts about a file that are kept in memory. */
interface Known {
  readonly wasThere: boolean
  config: Parent['config'] | undefined
  keys: Set<string>
}

/** The files of Modules and Providers. Imports only add versions; everything that people wrote stays. */
export class ParentFiles {
  readonly #options: ImportManifestOptions
  /** Each file is parsed once: one parent may have thousands of archives. */
  readonly #known = new Map<string, Promise<Known>>()
  readonly #batches = new Batches<Addition>((path, additions) => this.#write(path, additions))
  /** The last written file: parsing it again would take most of the time of adding a version. */
  #last: { readonly path: string; readonly text: string; readonly document: Document } | undefined

  constructor(options: ImportManifestOptions) {
    this.#options = options
  }

  /**
   * Finds the file of a Module or Provider, even under a name that earlier imports used; otherwise a free name.
   *
   * @throws Error if a file cannot be read, or other objects have all the names
   */
  async at(parent: ImportParent): Promise<ParentPlace> {
    const { name, former, distinct } = parentNames(parent)
    const places = await Promise.all(
      [former, name, distinct].map(async (each) => {
        const path = this.#pathOf(parent, each)
        const { wasThere, config } = await this.#knownAt(path)
        return { path, name: each, wasThere, config }
      }),
    )
    const own = places.find(({ config }) => config !== undefined && fits(config, parent))
    const [, ...free] = places
    const found = own ?? free.find(({ config }) => config === undefined)
    if (found === undefined) throw taken(this.#pathOf(parent, distinct), parent)
    return found
  }

  /** Adds a version to its parent, and creates the parent if needed. Resolves when the file is written. */
  async add(place: ParentPlace, item: ImportItem): Promise<void> {
    const { keys } = await this.#knownAt(place.path)
    if (!keys.has(keyOf(entryOf(item)))) await this.#batches.add(place.path, { place, item })
  }

  async #write(path: string, additions: readonly Addition[]): Promise<void> {
    const [first] = additions
    if (first === undefined) return
    const { parent } = first.item
    const known = await this.#knownAt(path)
    // A person may have changed the file meanwhile.
    const document = await this.#read(path)
    const { config, versions } = parentIn(path, document)
    if (config !== undefined && !fits(config, parent)) throw taken(path, parent)
    const keys = new Set(versions.map(keyOf))
    const entries = additions
      .map(({ item }) => entryOf(item))
      .filter((entry) => !keys.has(keyOf(entry)))
      .toSorted((a, b) => Number(isAfter(a, b)) - Number(isAfter(b, a)))
    if (document === undefined) {
      await writeFile(path, stringify(this.#contentOf(parent, first.place.name, entries)))
    } else if (entries.length > 0) {
      // The document differs from the file until it is written.
      this.#last = undefined
      insert(path, document, versions, entries)
      const text = stringify(document)
      await writeFile(path, text)
      this.#last = { path, text, document }
    }
    known.config = config ?? { name: parent.name, provider: parent.system }
    known.keys = new Set([...keys, ...entries.map(keyOf)])
  }

  #knownAt(path: string): Promise<Known> {
    const known = this.#known.get(path) ?? this.#readKnown(path)
    this.#known.set(path, known)
    return known
  }

  async #readKnown(path: string): Promise<Known> {
    const { config, versions } = parentIn(path, await this.#read(path))
    return { wasThere: config !== undefined, config, keys: new Set(versions.map(keyOf)) }
  }

  async #read(path: string): Promise<Document | undefined> {
    const text = await ifExists(readFile(path, 'utf8'))
    if (text === undefined) return undefined
    const last = this.#last
    return last?.path === path && last.text === text ? last.document : yamlOf(path, text)
  }

  #pathOf({ namespace, kind }: ImportParent, name: string): string {
    return join(this.#options.directory, namespace, kind.toLowerCase(), `${name}.yaml`)
  }

  #contentOf(parent: ImportParent, name: string, versions: readonly ListedEntry[]): object {
    return {
      apiVersion: `${this.#options.apiGroup}/v1alpha1`,
      kind: parent.kind,
      metadata: { name, namespace: parent.namespace },
      spec: { ...configOf(parent, this.#options), versions },
    }
  }
}

function parentIn(
  path: string,
  document: Document | undefined,
): Partial<Parent> & Pick<Parent, 'versions'> {
  if (document === undefined) return { versions: [] }
  const { data, error } = ParentFile.safeParse(document.toJS())
  if (data === undefined) {
    throw new Error(
      `${path} is not a manifest that an import can extend, at ${error.issues[0]?.path.join('.')}; correct or remove it`,
    )
  }
  const { moduleConfig, providerConfig, versions } = data.spec
  return { config: { name: data.metadata.name, ...moduleConfig, ...providerConfig }, versions }
}

/** Inserts versions in order and changes nothing else. */
function insert(
  path: string,
  document: Document,
  known: readonly ListedEntry[],
  entries: readonly ListedEntry[],
): void {
  const list = document.getIn(['spec', 'versions'])
  if (isSeq(list)) {
    const items: unknown[] = []
    let at = 0
    for (const entry of entries) {
      for (let next = known[at]; next !== undefined && !isAfter(next, entry); next = known[at]) {
        items.push(list.items[at])
        at += 1
      }
      items.push(document.createNode(entry))
    }
    list.items = [...items, ...list.items.slice(at)]
  } else if (known.length === 0) {
    document.setIn(['spec', 'versions'], document.createNode(entries))
  } else {
    throw new Error(
      `${path} has a YAML alias for its versions, expected a list: write the versions out`,
    )
  }
}

const taken = (path: string, { kind, name, system }: ImportParent): Error =>
  new Error(
    `${path} is another ${kind}, expected one with the name ${[name, system].filter(Boolean).join(' and the provider ')} or no file: move it to another name, and import again`,
  )

interface Waiting<T> {
  readonly items: T[]
  readonly written: Promise<void>
}

/**
 * Collects additions to a file, because each write takes longer as the file grows: additions during a write go into the
 * next one.
 */
export class Batches<T> {
  readonly #write: (key: string, items: readonly T[]) => Promise<void>
  readonly #waiting = new Map<string, Waiting<T>>()
  /** The end of the last write to a file. */
  readonly #last = new Map<string, Promise<void>>()

  /** @param write writes to the file with this name; calls for one file never overlap */
  constructor(write: (key: string, items: readonly T[]) => Promise<void>) {
    this.#write = write
  }

  /** Resolves when an item is written. @throws the error of the write */
  add(key: string, item: T): Promise<void> {
    const waiting = this.#waiting.get(key)
    if (waiting !== undefined) {
      waiting.items.push(item)
      return waiting.written
    }
    const items = [item]
    const written = this.#next(key, items)
    this.#waiting.set(key, { items, written })
    this.#last.set(
      key,
      written.catch(() => undefined),
    )
    return written
  }

  async #next(key: string, items: readonly T[]): Promise<void> {
    await this.#last.get(key)
    this.#waiting.delete(key)
    await this.#write(key, items)
  }
}

/** @throws Error naming the file, if it is not valid YAML */
export function yamlOf(path: string, text: string): Document {
  const document = parseDocument(text)
  const [mistake] = document.errors
  if (mistake === undefined) return document
  const [line = ''] = mistake.message.split('\n')
  throw new Error(`${path} is not valid YAML: ${line.replace(/:$/, '')}; correct or remove it`)
}

/** Candidates for the name of an object. */
interface CandidateNames {
  /** Readable; with a digest if another object could have the same readable name. */
  readonly name: string
  /** The name that early imports gave. */
  readonly former: string
  /** Always with a digest, for a name that is taken. */
  readonly distinct: string
}

/** Names for a Module or Provider. */
export function parentNames({ kind, namespace, name, system }: ImportParent): CandidateNames {
  // The last dash separates name and system, so `vpc-flow/aws` and `vpc/flow-aws` need different names.
  const isPlain = /^[a-z0-9-]+$/.test(name) && /^[a-z0-9]*$/.test(system ?? '')
  const readable = objectName(...[name, system].filter((part) => part !== undefined))
  return candidates(readable, [kind, namespace, name, system].join('/'), isPlain)
}

/** @param parentIs name of the Version's parent */
export function versionNames(
  { parent, version, platform }: ImportItem,
  parentIs: string,
): CandidateNames {
  const names = parentNames(parent)
  // Versions of a parent with a former name use the parent's new name, as earlier imports did.
  const base = parentIs === names.former ? names.name : parentIs
  const target = platform ? [platform.os, platform.arch] : []
  const parts = [version.replace('+', '-build-'), ...target]
  // `1.0.0-a.b`, `1.0.0-a-b` and `1.0.0-A.B` are different versions.
  const isPlain = /^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(version)
  const identity = [version, ...target].join('/')
  const own = candidates(objectName(base, ...parts), identity, isPlain)
  return { ...own, former: objectName(parentIs, ...parts) }
}

/** @param isPlain whether no other object can have the same readable name */
function candidates(readable: string, identity: string, isPlain: boolean): CandidateNames {
  const named = (isTaken: boolean) => freeName(readable, identity, () => isTaken)
  return { name: named(!isPlain), former: readable, distinct: named(true) }
}
