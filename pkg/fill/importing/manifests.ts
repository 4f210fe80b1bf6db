import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import * as z from 'zod'
import { ifExists } from '../../base/errors/errors.ts'
import { writeFile, writeReadmeManifest } from '../../records/store/store.ts'
import {
  configOf,
  entryOf,
  fits,
  type ImportManifestOptions,
  keyOf,
  ListedEntry,
  OwnerConfig,
} from './fields.ts'
import { type ImportItem, labelOf } from './item.ts'
import { ParentFiles, type ParentPlace, versionNames, yamlOf } from './parent-files.ts'

/** A stored archive; the digest is lower-case hexadecimal. */
const ImportUpload = z.object({
  fileName: z.string(),
  sha256: z.string(),
  sizeBytes: z.number(),
  docs: z.object({ sha256: z.string(), sizeBytes: z.number() }).optional(),
})
export type ImportUpload = Readonly<z.infer<typeof ImportUpload>>

/** A stored archive, and what its manifests say of it. */
export interface StoredItem {
  readonly upload: ImportUpload
  readonly protocols: readonly string[] | undefined
  /** The README of a module. */
  readonly readme: string | undefined
}

const VersionFile = z.object({
  spec: ListedEntry.extend({
    moduleConfigRef: OwnerConfig.default({}),
    providerConfigRef: OwnerConfig.default({}),
    upload: z.unknown().optional(),
  }),
})

/** Manifests of imported archives: a file for each Module and Provider, and for each Version. */
export class Manifests {
  readonly #options: ImportManifestOptions
  readonly #parents: ParentFiles

  constructor(options: ImportManifestOptions) {
    this.#options = options
    this.#parents = new ParentFiles(options)
  }

  /** Reads which archive an earlier import stored. @throws Error if its manifest cannot be read */
  async uploadOf(item: ImportItem): Promise<ImportUpload | undefined> {
    const { upload } = await this.#versionAt(item, await this.#parents.at(item.parent))
    return upload
  }

  /** Writes the parent first: a version without a file is imported again, so a kill between the two loses nothing. */
  async write(item: ImportItem, { upload, protocols, readme }: StoredItem): Promise<void> {
    const { parent } = item
    const { directory, apiGroup } = this.#options
    const place = await this.#parents.at(parent)
    const { path, name, upload: before } = await this.#versionAt(item, place)
    if (before === undefined || !place.wasThere) await this.#parents.add(place, item)
    const { moduleConfig, providerConfig } = configOf(parent, this.#options)
    const version = { name, namespace: parent.namespace }
    const status = readme?.trim() && {
      readmeConfigMapRef: await writeReadmeManifest(directory, version, { text: readme, apiGroup }),
      readmeDocs: upload.docs?.sha256,
    }
    const manifest = {
      apiVersion: `${apiGroup}/v1alpha1`,
      kind: 'Version',
      metadata: version,
      spec: {
        type: parent.kind,
        ...entryOf(item),
        ...(protocols?.length && { protocols }),
        ...(moduleConfig
          ? { moduleConfigRef: moduleConfig }
          : { providerConfigRef: providerConfig }),
        upload,
      },
      ...(status && { status }),
    }
    await writeFile(path, stringify(manifest))
  }

  /** Writes a missing parent. If a parent exists without the version, somebody removed the version, and it stays removed. */
  async complete(item: ImportItem): Promise<void> {
    const place = await this.#parents.at(item.parent)
    if (!place.wasThere) await this.#parents.add(place, item)
  }

  /** Finds the file of a Version and the archive that it names, otherwise a free name for the file. */
  async #versionAt(
    item: ImportItem,
    parent: ParentPlace,
  ): Promise<{ path: string; name: string; upload?: ImportUpload }> {
    const folder = parent.path.replace(/\.yaml$/, '')
    const { name, former, distinct } = versionNames(item, parent.name)
    const free: string[] = []
    for (const each of new Set([name, former, distinct])) {
      const path = join(folder, `${each}.yaml`)
      const text = await ifExists(readFile(path, 'utf8'))
      if (text === undefined) {
        free.push(each)
        continue
      }
      const { data } = VersionFile.safeParse(yamlOf(path, text).toJS())
      if (data !== undefined && isOf(data, item)) {
        return { path, name: each, upload: uploadIn(path, data) }
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

function uploadIn(path: string, { spec }: z.infer<typeof VersionFile>): ImportUpload {
  const { data } = ImportUpload.safeParse(spec.upload)
  if (data !== undefined) return data
  throw new Error(
    `${path} does not name the stored archive, expected spec.upload with fileName, sha256 and sizeBytes; add it or remove the file`,
  )
}
