import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import semver from 'semver'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import type { StorageConfig } from '../apis/v1alpha1/v1alpha1.ts'
import type { ImportItem, ImportParent } from './item.ts'

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

const VersionFile = z.object({
  spec: z.object({
    upload: z.object({ fileName: z.string(), sha256: z.string(), sizeBytes: z.number() }),
  }),
})
const Entry = z.object({
  version: z.string(),
  operatingSystem: z.string().optional(),
  architecture: z.string().optional(),
})
const ParentFile = z.object({ spec: z.object({ versions: z.array(Entry).default([]) }) })

/** Manifests of what was imported: a file for each Module and Provider, and for each Version. */
export class Manifests {
  readonly #options: ManifestOptions
  /** Parents are written one after the other: each write adds a version to what is there. */
  readonly #writing = new Map<string, Promise<void>>()

  constructor(options: ManifestOptions) {
    this.#options = options
  }

  /** What an earlier import stored of an item. */
  async uploadOf(item: ImportItem): Promise<Upload | undefined> {
    const found = VersionFile.safeParse(await readYaml(this.#versionPath(item)))
    return found.success ? found.data.spec.upload : undefined
  }

  async write(item: ImportItem, upload: Upload, protocols?: readonly string[]): Promise<void> {
    const { parent, version, platform } = item
    const config = this.#configOf(parent)
    await writeYaml(this.#versionPath(item), {
      apiVersion: `${this.#options.apiGroup}/v1alpha1`,
      kind: 'Version',
      metadata: { name: versionName(item), namespace: parent.namespace },
      spec: {
        type: parent.kind,
        version,
        ...(platform && { operatingSystem: platform.os, architecture: platform.arch }),
        ...(protocols?.length && { protocols }),
        ...(parent.kind === 'Module' ? { moduleConfigRef: config } : { providerConfigRef: config }),
        upload,
      },
    })
    await this.#addTo(parent, {
      version,
      ...(platform && { operatingSystem: platform.os, architecture: platform.arch }),
    })
  }

  #addTo(parent: ImportParent, entry: z.infer<typeof Entry>): Promise<void> {
    const path = this.#parentPath(parent)
    const before = this.#writing.get(path) ?? Promise.resolve()
    const writing = before.then(() => this.#writeParent(path, parent, entry))
    this.#writing.set(
      path,
      writing.catch(() => undefined),
    )
    return writing
  }

  async #writeParent(path: string, parent: ImportParent, entry: z.infer<typeof Entry>) {
    const found = ParentFile.safeParse(await readYaml(path))
    const known = found.success ? found.data.spec.versions : []
    const others = known.filter((each) => keyOf(each) !== keyOf(entry))
    const versions = [...others, entry].toSorted(
      (a, b) => semver.compareBuild(a.version, b.version) || (keyOf(a) < keyOf(b) ? -1 : 1),
    )
    const config = this.#configOf(parent)
    await writeYaml(path, {
      apiVersion: `${this.#options.apiGroup}/v1alpha1`,
      kind: parent.kind,
      metadata: { name: parentName(parent), namespace: parent.namespace },
      spec: {
        ...(parent.kind === 'Module' ? { moduleConfig: config } : { providerConfig: config }),
        versions,
      },
    })
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

  #parentPath(parent: ImportParent): string {
    const kind = parent.kind.toLowerCase()
    return join(this.#options.directory, parent.namespace, kind, `${parentName(parent)}.yaml`)
  }

  #versionPath(item: ImportItem): string {
    const path = this.#parentPath(item.parent).replace(/\.yaml$/, '')
    return join(path, `${versionName(item)}.yaml`)
  }
}

const keyOf = (entry: z.infer<typeof Entry>): string =>
  [entry.version, entry.operatingSystem, entry.architecture].join(' ')

const objectName = (...parts: readonly string[]): string =>
  parts
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')

const parentName = ({ name, system }: ImportParent): string =>
  objectName(...[name, system].filter((part) => part !== undefined))

function versionName({ parent, version, platform }: ImportItem): string {
  const platformParts = platform === undefined ? [] : [platform.os, platform.arch]
  // 1.0.0+b and 1.0.0-b are two versions.
  return objectName(parentName(parent), version.replace('+', '-build-'), ...platformParts)
}

async function readYaml(path: string): Promise<unknown> {
  try {
    return parse(await readFile(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** A file is whole or is not there, also for a server that reads the folder at this moment. */
async function writeYaml(path: string, content: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const temporary = join(
    dirname(path),
    `.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`,
  )
  await writeFile(temporary, stringify(content))
  await rename(temporary, path)
}
