import { join } from 'node:path'
import semver from 'semver'
import type { Document } from 'yaml'
import { z } from 'zod'
import type { StorageConfig } from '../apis/v1alpha1/v1alpha1.ts'
import type { ImportItem, ImportParent } from './item.ts'
import { parentName, plainName, versionName } from './names.ts'
import { readYaml, writeYaml } from './yaml-file.ts'

export interface Upload {
  readonly fileName: string
  /** In lower-case hexadecimal. */
  readonly sha256: string
  readonly sizeBytes: number
}

export interface ManifestOptions {
  readonly directory: string
  readonly apiGroup: string
  readonly storage: StorageConfig
  readonly format: 'zip' | 'tar.gz'
}

const Entry = z.object({
  version: z.string(),
  operatingSystem: z.string().optional(),
  architecture: z.string().optional(),
})
type Entry = z.infer<typeof Entry>

const VersionFile = z.object({
  spec: Entry.extend({
    upload: z.object({ fileName: z.string(), sha256: z.string(), sizeBytes: z.number() }),
  }),
})
const Config = z.object({ name: z.string(), provider: z.string().optional() })
const ParentFile = z.object({
  spec: z.object({
    moduleConfig: Config.optional(),
    providerConfig: Config.optional(),
    versions: z.array(Entry).default([]),
  }),
})

/** Manifests of what was imported: a file for each Module and Provider, and for each Version. */
export class Manifests {
  readonly #options: ManifestOptions
  /** Parents are written one after the other: each write adds a version to what is there. */
  readonly #writing = new Map<string, Promise<void>>()

  constructor(options: ManifestOptions) {
    this.#options = options
  }

  /** What an earlier import stored of an item. @throws Error where its manifest cannot be read */
  async uploadOf(item: ImportItem): Promise<Upload | undefined> {
    const { upload } = await this.#versionAt(item)
    return upload
  }

  async write(item: ImportItem, upload: Upload, protocols?: readonly string[]): Promise<void> {
    const { parent, version, platform } = item
    const { parentPath, parentIs } = await this.#parentAt(parent)
    const { path, name } = await this.#versionAt(item)
    const config = this.#configOf(parent)
    await writeYaml(path, {
      apiVersion: `${this.#options.apiGroup}/v1alpha1`,
      kind: 'Version',
      metadata: { name, namespace: parent.namespace },
      spec: {
        type: parent.kind,
        version,
        ...(platform && { operatingSystem: platform.os, architecture: platform.arch }),
        ...(protocols?.length && { protocols }),
        ...(parent.kind === 'Module' ? { moduleConfigRef: config } : { providerConfigRef: config }),
        upload,
      },
    })
    await this.#addTo(parentPath, parentIs, item)
  }

  /** Names a version in its parent, where an import ended between the two files. */
  async complete(item: ImportItem): Promise<void> {
    const { parentPath, parentIs } = await this.#parentAt(item.parent)
    await this.#addTo(parentPath, parentIs, item)
  }

  #addTo(path: string, name: string, item: ImportItem): Promise<void> {
    const before = this.#writing.get(path) ?? Promise.resolve()
    const writing = before.then(() => this.#writeParent(path, name, item))
    this.#writing.set(
      path,
      writing.catch(() => undefined),
    )
    return writing
  }

  /** What people wrote into a Module or Provider stays; only its versions become more. */
  async #writeParent(path: string, name: string, item: ImportItem): Promise<void> {
    const { parent } = item
    const document = await readYaml(path)
    const known = this.#versionsIn(path, document)
    const entry = entryOf(item)
    if (known.some((each) => keyOf(each) === keyOf(entry))) return
    const versions = [...known, entry].toSorted(
      (a, b) => semver.compareBuild(a.version, b.version) || (keyOf(a) < keyOf(b) ? -1 : 1),
    )
    if (document !== undefined) {
      document.setIn(['spec', 'versions'], document.createNode(versions))
      await writeYaml(path, document)
      return
    }
    const config = this.#configOf(parent)
    await writeYaml(path, {
      apiVersion: `${this.#options.apiGroup}/v1alpha1`,
      kind: parent.kind,
      metadata: { name, namespace: parent.namespace },
      spec: {
        ...(parent.kind === 'Module' ? { moduleConfig: config } : { providerConfig: config }),
        versions,
      },
    })
  }

  #versionsIn(path: string, document: Document | undefined): readonly Entry[] {
    if (document === undefined) return []
    const found = ParentFile.safeParse(document.toJS())
    if (found.success) return found.data.spec.versions
    throw new Error(
      `${path} is not as an import writes it, at ${found.error.issues[0]?.path.join('.')}; correct or remove it`,
    )
  }

  #configOf({ kind, name, system, namespace }: ImportParent): object {
    const { storage, format } = this.#options
    return kind === 'Module'
      ? {
          name,
          provider: system,
          fileFormat: format === 'zip' ? 'zip' : 'tar',
          immutable: true,
          storageConfig: storage,
        }
      : { name, namespace, storageConfig: storage }
  }

  /** Where the file of a Module or Provider is: also one that an import before this one named otherwise. */
  async #parentAt(parent: ImportParent): Promise<{ parentPath: string; parentIs: string }> {
    const kind = parent.kind.toLowerCase()
    const at = (name: string) =>
      join(this.#options.directory, parent.namespace, kind, `${name}.yaml`)
    const name = parentName(parent)
    const former = plainName(parent.name, parent.system)
    if (former !== name) {
      const found = ParentFile.safeParse((await readYaml(at(former)))?.toJS())
      const { moduleConfig, providerConfig } = found.data?.spec ?? {}
      const config = moduleConfig ?? providerConfig
      if (config?.name === parent.name && config.provider === parent.system) {
        return { parentPath: at(former), parentIs: former }
      }
    }
    return { parentPath: at(name), parentIs: name }
  }

  /** Where the file of a Version is, and what it says is stored. */
  async #versionAt(
    item: ImportItem,
  ): Promise<{ path: string; name: string; upload: Upload | undefined }> {
    const { version, platform, parent } = item
    const { parentPath, parentIs } = await this.#parentAt(parent)
    const folder = parentPath.replace(/\.yaml$/, '')
    const build = version.replace('+', '-build-')
    const former = plainName(parentIs, build, platform?.os, platform?.arch)
    const name = versionName(item)
    for (const each of new Set([name, former])) {
      const path = join(folder, `${each}.yaml`)
      const found = VersionFile.safeParse((await readYaml(path))?.toJS())
      if (!found.success || keyOf(found.data.spec) !== keyOf(entryOf(item))) continue
      return { path, name: each, upload: found.data.spec.upload }
    }
    return { path: join(folder, `${name}.yaml`), name, upload: undefined }
  }
}

const entryOf = ({ version, platform }: ImportItem): Entry => ({
  version,
  ...(platform && { operatingSystem: platform.os, architecture: platform.arch }),
})

const keyOf = (entry: Entry): string =>
  [entry.version, entry.operatingSystem, entry.architecture].join(' ')
