import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import { type Readme, type Readmes, readmeIn, readmeText } from '../readme/readme.ts'

/** A ConfigMap of the folder that contains READMEs. */
export interface ReadmeConfigMap extends Readme {
  readonly namespace: string
  readonly name: string
}

/** Reads a ConfigMap that may be shown: with the README label, or owned by a Version. Otherwise undefined. */
export function readmesIn(value: unknown, apiGroup: string): ReadmeConfigMap | undefined {
  if (!isRecord(value) || value['apiVersion'] !== 'v1' || value['kind'] !== 'ConfigMap')
    return undefined
  const { metadata, data } = value
  if (!isRecord(metadata) || !isRecord(data)) return undefined
  const { name, namespace = 'default' } = metadata
  if (typeof name !== 'string' || typeof namespace !== 'string') return undefined
  const readme = readmeIn(value, apiGroup, decoded)
  return readme.owners?.size === 0 ? undefined : { namespace, name, ...readme }
}

/** Controllers write base64, people write text. */
function decoded(text: string): Buffer {
  const packed = text.replaceAll(/\s/g, '')
  const isBase64 = packed.length % 4 === 0 && /^[0-9A-Za-z+/]{8,}={0,2}$/.test(packed)
  return Buffer.from(isBase64 ? packed : text, isBase64 ? 'base64' : 'utf8')
}

/** The READMEs of every file. Of two ConfigMaps with one name, that of the first file in order. */
export class FolderReadmes implements Readmes {
  readonly #files = new Map<string, readonly ReadmeConfigMap[]>()
  #byName: ReadonlyMap<string, ReadmeConfigMap> | undefined
  #revision = 0

  get revision(): number {
    return this.#revision
  }

  set(file: string, readmes: readonly ReadmeConfigMap[]): void {
    if (readmes.length === 0 && !this.#files.delete(file)) return
    if (readmes.length > 0) this.#files.set(file, readmes)
    this.#byName = undefined
    this.#revision += 1
  }

  /** All READMEs of a folder are in memory. */
  note(): void {}

  get(namespace: string, name: string, key: string, version: string): string | undefined {
    this.#byName ??= new Map(
      [...this.#files]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([, readmes]) => readmes)
        .toReversed()
        .map((readme) => [`${readme.namespace}/${readme.name}`, readme]),
    )
    const readme = this.#byName.get(`${namespace}/${name}`)
    return readme && readmeText(readme, key, version)
  }
}
