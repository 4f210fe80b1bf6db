import type { ParentKind, StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import { CappedMap } from '../../base/memory/memory.ts'
import type { FindingTable } from './findings.ts'

/** Fields that siblings of the same platform and state have in common: they share one object. */
export interface Common {
  readonly namespace: string
  readonly kind: ParentKind
  /** @see VersionRow.parentName */
  readonly parentName: string | undefined
  /** @see VersionRow.ownerUid */
  readonly ownerUid: string | undefined
  readonly system: string | undefined
  readonly os: string | undefined
  readonly arch: string | undefined
  readonly protocols: readonly string[] | undefined
  readonly storage: StorageConfig | undefined
  readonly configName: string | undefined
  readonly synced: boolean
  readonly syncStatus: string
}

/** Siblings come one after the other in a list, so that few have to be remembered. */
const maxCommons = 4096

/** Longer keys hardly ever repeat, and would fill the memory. */
const maxKeyLength = 1_000

/**
 * Gives equal values one identity, so that a thousand rows that say `linux` share one string. When it is full and forgets
 * them, only sharing is lost.
 */
export class Interner<T> {
  readonly #values: CappedMap<string, T>

  /** @param capacity distinct values to remember, default 100,000 */
  constructor(capacity = 100_000) {
    this.#values = new CappedMap(capacity)
  }

  get(key: string, create: () => T): T {
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const created = create()
    if (key.length <= maxKeyLength) this.#values.set(key, created)
    return created
  }
}

/** Keeps values that many rows have in common once. */
export class RowContext {
  readonly findings: FindingTable
  readonly #strings = new Interner<string>()
  readonly #storages = new Interner<StorageConfig>()
  readonly #commons = new Interner<Common>(maxCommons)

  constructor(findings: FindingTable) {
    this.findings = findings
  }

  string(value: string): string
  string(value: string | undefined): string | undefined
  string(value: string | undefined): string | undefined {
    return value === undefined ? undefined : this.#strings.get(value, () => value)
  }

  /** @param known what the row before had, which may be the same */
  common(common: Common, known: Common | undefined): Common {
    const key = JSON.stringify(common)
    if (known !== undefined && JSON.stringify(known) === key) return known
    return this.#commons.get(key, () => ({
      ...common,
      namespace: this.string(common.namespace),
      parentName: this.string(common.parentName),
      ownerUid: this.string(common.ownerUid),
      configName: this.string(common.configName),
      storage: this.#storage(common.storage),
    }))
  }

  /** Equal ones are the same object. */
  #storage(storage: StorageConfig | undefined): StorageConfig | undefined {
    return storage && this.#storages.get(JSON.stringify(storage), () => storage)
  }
}
