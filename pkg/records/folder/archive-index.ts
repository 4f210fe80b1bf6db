import {
  type ArchiveLocation,
  checksumOf,
  configOfParent,
  locationOf,
  type Module,
  type ObjectKey,
  type ParentKind,
  type ParentRef,
  type Provider,
  parentOf,
  parentRefOf,
  type Resource,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import { idOf } from './definitions.ts'

/** Versions without their own checksum, and the locations of their archives. */
export class ArchiveIndex {
  readonly #parents = new Map<string, Module | Provider>()
  /** Names of parents by the name in their config, if the two differ. */
  readonly #aliases = new Map<string, Set<string>>()
  readonly #versions = new Map<string, Version>()

  /** Versions without their own checksum, by {@link idOf}. */
  get versions(): ReadonlyMap<string, Version> {
    return this.#versions
  }

  /** @returns whether a location may have changed */
  set(key: ObjectKey, resource: Resource | undefined): boolean {
    const id = idOf(key)
    if (key.kind === 'Version') {
      const known = this.#versions.delete(id)
      if (resource?.kind !== 'Version' || checksumOf(resource) !== undefined) return known
      this.#versions.set(id, resource)
      return true
    }
    if (key.kind !== 'Module' && key.kind !== 'Provider') return false
    const before = this.#parents.get(id)
    if (before !== undefined) this.#rename(before, (names, name) => names.delete(name))
    this.#parents.delete(id)
    if (resource?.kind === 'Module' || resource?.kind === 'Provider') {
      this.#parents.set(id, resource)
      this.#rename(resource, (names, name) => names.add(name))
    }
    return true
  }

  /**
   * Finds the archive of a Version.
   *
   * @returns undefined if it is not on the filesystem backend, or unknown
   */
  locate(version: Version): ArchiveLocation | undefined {
    const ref = parentRefOf(version)
    const system = version.spec.moduleConfigRef?.provider
    const parent = ref && this.#parentOf(version.metadata.namespace, ref, system)
    const location = locationOf(version, parent)
    return location?.storage.fileSystem === undefined ? undefined : location
  }

  #parentOf(
    namespace: string,
    { kind, name, owned, uid }: ParentRef,
    system: string | undefined,
  ): Module | Provider | undefined {
    const id = idOf({ kind, namespace, name })
    const configured = () => this.#configured(kind, namespace, name)
    const wanted = { ownerUid: owned ? uid : undefined, system }
    return parentOf(wanted, this.#parents.get(id), configured, traits)
  }

  /** Parents with that name in their config and another metadata.name. */
  *#configured(kind: ParentKind, namespace: string, name: string): Generator<Module | Provider> {
    for (const alias of this.#aliases.get(idOf({ kind, namespace, name })) ?? []) {
      const parent = this.#parents.get(idOf({ kind, namespace, name: alias }))
      if (parent !== undefined) yield parent
    }
  }

  #rename(parent: Module | Provider, change: (names: Set<string>, name: string) => void): void {
    const { namespace, name } = parent.metadata
    const alias = configOfParent(parent).name
    if (alias === undefined || alias === name) return
    const id = idOf({ kind: parent.kind, namespace, name: alias })
    const names = this.#aliases.get(id) ?? new Set()
    change(names, name)
    if (names.size === 0) this.#aliases.delete(id)
    else this.#aliases.set(id, names)
  }
}

const traits = {
  system: (parent: Module | Provider) =>
    parent.kind === 'Module' ? parent.spec.moduleConfig.provider : undefined,
  uid: ({ metadata }: Module | Provider) => metadata.uid ?? '',
}
