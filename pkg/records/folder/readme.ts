import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { interfaceKey, isRecord } from '../../api/v1alpha1/v1alpha1.ts'

/** A ConfigMap of the folder that holds READMEs. */
export interface Readme {
  readonly namespace: string
  readonly name: string
  /** Has the README label, so that every Version that names it can show it. */
  readonly isLabelled: boolean
  /** Names of the Versions that own it. */
  readonly owners: readonly string[]
  /** The README of each key, compressed. */
  readonly texts: ReadonlyMap<string, Buffer>
}

/** A ConfigMap holds a megabyte at most. */
const maxTextBytes = 4 * 1024 * 1024

/** Reads a ConfigMap that can be shown: with the README label, or owned by a Version. Otherwise undefined. */
export function readmeIn(value: unknown, apiGroup: string): Readme | undefined {
  if (!isRecord(value) || value['apiVersion'] !== 'v1' || value['kind'] !== 'ConfigMap')
    return undefined
  const { metadata, data } = value
  if (!isRecord(metadata) || !isRecord(data)) return undefined
  const { name, namespace = 'default', labels, ownerReferences } = metadata
  if (typeof name !== 'string' || typeof namespace !== 'string') return undefined
  const isLabelled = isRecord(labels) && labels[`${apiGroup}/readme`] !== undefined
  const owners = (Array.isArray(ownerReferences) ? ownerReferences : []).flatMap(
    (owner: unknown) => {
      if (!isRecord(owner) || owner['kind'] !== 'Version') return []
      const { name: version, apiVersion = `${apiGroup}/` } = owner
      const isOurs = typeof apiVersion === 'string' && apiVersion.startsWith(`${apiGroup}/`)
      return isOurs && typeof version === 'string' ? [version] : []
    },
  )
  if (!isLabelled && owners.length === 0) return undefined
  const texts = new Map<string, Buffer>()
  for (const [key, text] of Object.entries(data)) {
    if (typeof text === 'string' && key !== interfaceKey)
      texts.set(key, deflateRawSync(decoded(text), { level: 3 }))
  }
  return { namespace, name, isLabelled, owners, texts }
}

/** A controller writes base64; people write text. */
function decoded(text: string): Buffer {
  const packed = text.replaceAll(/\s/g, '')
  const isBase64 = packed.length % 4 === 0 && /^[0-9A-Za-z+/]{8,}={0,2}$/.test(packed)
  return Buffer.from(isBase64 ? packed : text, isBase64 ? 'base64' : 'utf8')
}

/** The READMEs of every file; of two ConfigMaps of one name that of the first file in order. */
export class FolderReadmes {
  readonly #files = new Map<string, readonly Readme[]>()
  #byName: Map<string, Readme> | undefined
  #revision = 0

  /** Counts whatever may change what `get` returns. */
  get revision(): number {
    return this.#revision
  }

  set(file: string, readmes: readonly Readme[]): void {
    if (readmes.length === 0 && !this.#files.has(file)) return
    if (readmes.length === 0) this.#files.delete(file)
    else this.#files.set(file, readmes)
    this.#byName = undefined
    this.#revision += 1
  }

  /** All READMEs of a folder are in memory. */
  want(): void {}

  forget(): void {}

  /** @param version that shows it */
  get(namespace: string, name: string, key: string, version: string): string | undefined {
    this.#byName ??= this.#index()
    const readme = this.#byName.get(`${namespace}/${name}`)
    if (readme === undefined) return undefined
    if (!readme.isLabelled && !readme.owners.includes(version)) return undefined
    const text = readme.texts.get(key)
    return text && inflateRawSync(text, { maxOutputLength: maxTextBytes }).toString()
  }

  #index(): Map<string, Readme> {
    const index = new Map<string, Readme>()
    for (const file of [...this.#files.keys()].toSorted()) {
      for (const readme of this.#files.get(file) ?? []) {
        const key = `${readme.namespace}/${readme.name}`
        if (!index.has(key)) index.set(key, readme)
      }
    }
    return index
  }
}
