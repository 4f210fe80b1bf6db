import { setTimeout as sleep } from 'node:timers/promises'
import { apiVersionOf } from '../../../api/v1alpha1/v1alpha1.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { idOf, type Scanner } from '../../folder/folder.ts'
import { type ObjectMemory, objectKinds, record, refOf } from '../memory.ts'
import type { StoredObject } from '../types.ts'
import type { Files } from './files.ts'
import type { Fields, FiledSecret } from './object-rules.ts'

interface MendingOptions {
  readonly apiGroup: string
  readonly scanner: Scanner<Fields, FiledSecret>
  readonly files: Files
  readonly log: Logger
}

/** Writes objects that sync created again, if their files are damaged. */
export class Mending {
  readonly #options: MendingOptions

  constructor(options: MendingOptions) {
    this.#options = options
  }

  /** See `mend` of `Objects`. */
  async mend(object: StoredObject, isProven: () => Promise<boolean>): Promise<boolean> {
    const { kind, metadata, spec, status } = object
    const { name, namespace, labels, annotations, creationTimestamp, ...rest } = metadata
    const { finalizers, ownerReferences } = rest
    const made = { creationTimestamp, finalizers, ownerReferences }
    const own = { name, namespace, labels, annotations, ...made }
    const ref = refOf(object)
    const state = await this.#options.scanner.exclusively(async () => {
      return isMade(object) ? this.#options.files.damageOf(ref) : undefined
    })
    if (state === undefined || !(await isProven())) return false
    await sleep(this.#options.files.restsInMs(state))
    const apiVersion = apiVersionOf(kind, this.#options.apiGroup)
    const value = { apiVersion, kind, metadata: own, spec, status }
    return this.#options.scanner.exclusively(() => this.#options.files.mend(ref, value, state))
  }

  /** Writes files again that were damaged while this process ran. Call it only while no scan runs. */
  async mendKnown(memory: ObjectMemory): Promise<void> {
    for (const object of objectKinds.flatMap((kind) => memory.list(kind))) {
      const ref = refOf(object)
      const value = this.#options.scanner.definitions.get(idOf(ref))
      const { artifact } = record(value?.['status'])
      if (!isMade(object) || (object.kind === 'Version' && artifact === undefined)) continue
      try {
        const state = await this.#options.files.damageOf(ref)
        if (value !== undefined && state !== undefined)
          await this.#options.files.mend(ref, value, state)
      } catch (err) {
        this.#options.log.error({ ...ref, err }, 'a damaged file could not be written again')
      }
    }
  }
}

/** Whether sync created an object. The file of a Version that a person published belongs to that person. */
function isMade({ kind, metadata, spec }: StoredObject): boolean {
  const isOfPerson = kind === 'Depot' || record(spec)['upload'] !== undefined
  return metadata.creationTimestamp !== '' && !isOfPerson
}
