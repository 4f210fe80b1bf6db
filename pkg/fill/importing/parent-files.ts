import { join } from 'node:path'
import { type Document, isSeq } from 'yaml'
import * as z from 'zod'
import { Batches } from './batches.ts'
import { Entry, entryOf, isAfter, keyOf } from './entry.ts'
import type { ImportItem, ImportParent } from './item.ts'
import { parentNames } from './names.ts'
import { Config, configOf, fits, type ManifestOptions } from './parent-config.ts'
import { readText, writeYaml, yamlOf } from './yaml-file.ts'

/** Where a Module or Provider is. */
export interface ParentPlace {
  readonly path: string
  /** Its metadata.name. */
  readonly name: string
  /** Whether its file was there before this import. */
  readonly wasThere: boolean
}

const ParentFile = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z
    .object({
      moduleConfig: Config.optional(),
      providerConfig: Config.optional(),
      versions: z.array(Entry).default([]),
    })
    .refine(({ moduleConfig, providerConfig }) => moduleConfig ?? providerConfig),
})

/** What a file says. */
interface Parent {
  readonly config: z.infer<typeof Config>
  readonly versions: readonly Entry[]
}

/** A version that is to be named in a file. */
interface Addition {
  readonly place: ParentPlace
  readonly item: ImportItem
  /** Why it cannot be. */
  problem?: Error
}

/** What is kept of a file. */
interface Known {
  readonly wasThere: boolean
  config: Parent['config'] | undefined
  keys: Set<string>
}

/** The files of Modules and Providers. What people write into them stays; only their versions become more. */
export class ParentFiles {
  readonly #options: ManifestOptions
  /** Each file is parsed once: thousands of archives may be of one parent. */
  readonly #known = new Map<string, Promise<Known>>()
  readonly #batches = new Batches<Addition>((path, additions) => this.#write(path, additions))
  /** What was written last: parsing would take most of the time of adding a version. */
  #last: { readonly path: string; readonly text: string; readonly document: Document } | undefined

  constructor(options: ManifestOptions) {
    this.#options = options
  }

  /**
   * Where the file of a Module or Provider is, also one that an import before this one named otherwise; else where it may be.
   *
   * @throws Error where a file cannot be read, or others have every name
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

  /** Names a version in its parent, and writes the parent where there is none. Resolves when that is written. */
  async add(place: ParentPlace, item: ImportItem): Promise<void> {
    const { keys } = await this.#knownAt(place.path)
    if (keys.has(keyOf(entryOf(item)))) return
    const addition: Addition = { place, item }
    await this.#batches.add(place.path, addition)
    if (addition.problem !== undefined) throw addition.problem
  }

  /** From now on nothing waits for more versions to come. */
  hurry(): void {
    this.#batches.hurry()
  }

  async #write(path: string, additions: readonly Addition[]): Promise<void> {
    const known = await this.#knownAt(path)
    // What a person wrote meanwhile stays, too.
    const document = await this.#read(path)
    const { config: written, versions } = parentIn(path, document)
    const [first] = additions
    if (first === undefined) return
    const { parent } = first.item
    const config = written ?? { name: parent.name, provider: parent.system }
    const keys = new Set(versions.map(keyOf))
    const entries: Entry[] = []
    for (const addition of additions) {
      const entry = entryOf(addition.item)
      if (!fits(config, addition.item.parent)) addition.problem = taken(path, addition.item.parent)
      else if (!keys.has(keyOf(entry))) entries.push(entry)
      if (addition.problem === undefined) keys.add(keyOf(entry))
    }
    entries.sort((a, b) => Number(isAfter(a, b)) - Number(isAfter(b, a)))
    if (document === undefined) {
      await writeYaml(path, this.#contentOf(parent, first.place.name, entries))
    } else if (entries.length > 0) {
      // Until it is written the document is not what the file has.
      this.#last = undefined
      insert(path, document, versions, entries)
      this.#last = { path, text: await writeYaml(path, document), document }
    }
    known.config = config
    known.keys = keys
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
    const text = await readText(path)
    if (text === undefined) return undefined
    const last = this.#last
    return last?.path === path && last.text === text ? last.document : yamlOf(path, text)
  }

  #pathOf({ namespace, kind }: ImportParent, name: string): string {
    return join(this.#options.directory, namespace, kind.toLowerCase(), `${name}.yaml`)
  }

  #contentOf(parent: ImportParent, name: string, versions: readonly Entry[]): object {
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
      `${path} is not as an import writes it, at ${error.issues[0]?.path.join('.')}; correct or remove it`,
    )
  }
  const { moduleConfig, providerConfig, versions } = data.spec
  return { config: { name: data.metadata.name, ...moduleConfig, ...providerConfig }, versions }
}

/** Puts each version, in their order, before the first that comes after it, and touches nothing else. */
function insert(
  path: string,
  document: Document,
  known: readonly Entry[],
  entries: readonly Entry[],
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
    throw new Error(`${path} has an alias for its versions, expected a list: write them out`)
  }
}

const taken = (path: string, { kind, name, system }: ImportParent): Error =>
  new Error(
    `${path} is another ${kind}, expected one with the name ${[name, system].filter(Boolean).join(' and the provider ')} or no file: move it to another name, and import again`,
  )
