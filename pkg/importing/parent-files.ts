import { join } from 'node:path'
import { type Document, isSeq } from 'yaml'
import { z } from 'zod'
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
  /** Files are written one after the other: each write adds a version to what is there. */
  readonly #writing = new Map<string, Promise<void>>()
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

  /** Names a version in its parent, and writes the parent where there is none. */
  add(place: ParentPlace, item: ImportItem): Promise<void> {
    const before = this.#writing.get(place.path) ?? Promise.resolve()
    const writing = before.then(() => this.#write(place, item))
    this.#writing.set(
      place.path,
      writing.catch(() => undefined),
    )
    return writing
  }

  async #write({ path, name }: ParentPlace, item: ImportItem): Promise<void> {
    const { parent } = item
    const known = await this.#knownAt(path)
    const entry = entryOf(item)
    const key = keyOf(entry)
    if (known.keys.has(key)) return
    // What a person wrote meanwhile stays, too.
    const document = await this.#read(path)
    const { config, versions } = parentIn(path, document)
    if (config !== undefined && !fits(config, parent)) throw taken(path, parent)
    const keys = new Set(versions.map(keyOf))
    if (document === undefined) {
      await writeYaml(path, this.#contentOf(parent, name, entry))
    } else if (!keys.has(key)) {
      // Until it is written the document is not what the file has.
      this.#last = undefined
      insert(path, document, versions, entry)
      this.#last = { path, text: await writeYaml(path, document), document }
    }
    known.config = config ?? { name: parent.name, provider: parent.system }
    known.keys = keys.add(key)
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

  #contentOf(parent: ImportParent, name: string, entry: Entry): object {
    return {
      apiVersion: `${this.#options.apiGroup}/v1alpha1`,
      kind: parent.kind,
      metadata: { name, namespace: parent.namespace },
      spec: { ...configOf(parent, this.#options), versions: [entry] },
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

/** Puts a version before the first that comes after it, and touches nothing else. */
function insert(path: string, document: Document, known: readonly Entry[], entry: Entry): void {
  const list = document.getIn(['spec', 'versions'])
  const later = known.findIndex((each) => isAfter(each, entry))
  if (isSeq(list)) {
    list.items.splice(later < 0 ? known.length : later, 0, document.createNode(entry))
  } else if (known.length === 0) {
    document.setIn(['spec', 'versions'], document.createNode([entry]))
  } else {
    throw new Error(`${path} has an alias for its versions, expected a list: write them out`)
  }
}

const taken = (path: string, { kind, name, system }: ImportParent): Error =>
  new Error(
    `${path} is another ${kind}, expected one with the name ${[name, system].filter(Boolean).join(' and the provider ')} or no file: move it to another name, and import again`,
  )
