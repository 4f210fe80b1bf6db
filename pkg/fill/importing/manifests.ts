import { join } from 'node:path'
import * as z from 'zod'
import { Entry, entryOf, keyOf } from './entry.ts'
import { type ImportItem, labelOf } from './item.ts'
import { versionNames } from './names.ts'
import { Config, configOf, fits, type ManifestOptions } from './parent-config.ts'
import { ParentFiles, type ParentPlace } from './parent-files.ts'
import { readYaml, writeYaml } from './yaml-file.ts'

export interface Upload {
  readonly fileName: string
  /** In lower-case hexadecimal. */
  readonly sha256: string
  readonly sizeBytes: number
}

const Upload = z.object({ fileName: z.string(), sha256: z.string(), sizeBytes: z.number() })
const VersionFile = z.object({
  spec: Entry.extend({
    moduleConfigRef: Config.default({}),
    providerConfigRef: Config.default({}),
    upload: z.unknown().optional(),
  }),
})

/** Manifests of what was imported: a file for each Module and Provider, and for each Version. */
export class Manifests {
  readonly #options: ManifestOptions
  readonly #parents: ParentFiles

  constructor(options: ManifestOptions) {
    this.#options = options
    this.#parents = new ParentFiles(options)
  }

  /** What an earlier import stored of an item. @throws Error where its manifest cannot be read */
  async uploadOf(item: ImportItem): Promise<Upload | undefined> {
    const { upload } = await this.#versionAt(item, await this.#parents.at(item.parent))
    return upload
  }

  /** The parent is first: a version without a file is imported again, so a kill between the two loses nothing. */
  async write(item: ImportItem, upload: Upload, protocols?: readonly string[]): Promise<void> {
    const { parent, version, platform } = item
    const place = await this.#parents.at(parent)
    const { path, name, upload: before } = await this.#versionAt(item, place)
    if (before === undefined || !place.wasThere) await this.#parents.add(place, item)
    const { moduleConfig: moduleConfigRef, providerConfig: providerConfigRef } = configOf(
      parent,
      this.#options,
    )
    await writeYaml(path, {
      apiVersion: `${this.#options.apiGroup}/v1alpha1`,
      kind: 'Version',
      metadata: { name, namespace: parent.namespace },
      spec: {
        type: parent.kind,
        version,
        ...(platform && { operatingSystem: platform.os, architecture: platform.arch }),
        ...(protocols?.length && { protocols }),
        ...(moduleConfigRef ? { moduleConfigRef } : { providerConfigRef }),
        upload,
      },
    })
  }

  /** Writes a parent that was lost. A version that is not in one that is there was taken out of it, and stays out. */
  async complete(item: ImportItem): Promise<void> {
    const place = await this.#parents.at(item.parent)
    if (!place.wasThere) await this.#parents.add(place, item)
  }

  /** From now on nothing waits for more to come. */
  hurry(): void {
    this.#parents.hurry()
  }

  /** Where the file of a Version is, and what it says is stored; else where it may be. */
  async #versionAt(
    item: ImportItem,
    parent: ParentPlace,
  ): Promise<{ path: string; name: string; upload?: Upload }> {
    const folder = parent.path.replace(/\.yaml$/, '')
    const { name, former, distinct } = versionNames(item, parent.name)
    const free: string[] = []
    for (const each of new Set([name, former, distinct])) {
      const path = join(folder, `${each}.yaml`)
      const document = await readYaml(path)
      if (document === undefined) free.push(each)
      const found = VersionFile.safeParse(document?.toJS())
      if (found.success && isOf(found.data, item)) {
        return { path, name: each, upload: uploadIn(path, found.data) }
      }
    }
    const found = [name, distinct].find((each) => free.includes(each))
    if (found !== undefined) return { path: join(folder, `${found}.yaml`), name: found }
    throw new Error(
      `${join(folder, `${distinct}.yaml`)} is another Version, expected ${labelOf(item)} or no file: move it to another name, and import again`,
    )
  }
}

const isOf = ({ spec }: z.infer<typeof VersionFile>, item: ImportItem): boolean =>
  keyOf(spec) === keyOf(entryOf(item)) &&
  fits({ ...spec.moduleConfigRef, ...spec.providerConfigRef }, item.parent)

function uploadIn(path: string, { spec }: z.infer<typeof VersionFile>): Upload {
  const found = Upload.safeParse(spec.upload)
  if (found.success) return found.data
  throw new Error(
    `${path} does not say what is stored, expected spec.upload with fileName, sha256 and sizeBytes; add it or remove the file`,
  )
}
