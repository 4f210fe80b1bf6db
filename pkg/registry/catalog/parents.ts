import { fitsSystem, type ParentKind, parentOf } from '../../api/v1alpha1/v1alpha1.ts'
import { isOlder, lowerBound, NamedRows } from './collections.ts'
import { Parent, type VersionChunk, VersionList } from './parent.ts'
import type { ResourceRow } from './resource-row.ts'
import type { Unserved } from './unserved.ts'
import type { VersionRow } from './version-row.ts'

export interface ParentsOptions {
  readonly kind: ParentKind
  /** Called with each parent that changed, or one of whose Versions did. */
  readonly onChange: (parent: Parent) => void
  /** Called with each parent that loses its address. */
  readonly onConflict: (parent: Parent) => void
}

/**
 * All Modules, or all Providers, with their Versions: the parent of each Version, and the owner of each address.
 *
 * A Version for which `parentOf` finds no parent waits and is not served.
 */
export class Parents {
  readonly #options: ParentsOptions
  readonly #byName = new NamedRows<Parent>()
  readonly #claims = new AddressClaims()
  /** Versions without a parent, by the name that they refer to. */
  readonly #waiting = new NamedRows<VersionList>()
  /** Resources without their address, each with the resource that has it. */
  readonly #conflicts = new Map<Parent, Parent>()
  #waitingRevision = 0
  #refusals = 0
  readonly #onRefuse = () => {
    this.#refusals += 1
  }

  constructor(options: ParentsOptions) {
    this.#options = options
  }

  /** Requests for versions that policies hold back. */
  get refusals(): number {
    return this.#refusals
  }

  /** Versions that have no parent. */
  get waitingCount(): number {
    let count = 0
    for (const [, , { size }] of this.#waiting.entries()) count += size
    return count
  }

  /** Parents whose address belongs to another one. */
  get conflictCount(): number {
    return this.#conflicts.size
  }

  /** The existing ones, by namespace and `metadata.name`. */
  get byNamespace(): ReadonlyMap<string, ReadonlyMap<string, Parent>> {
    return this.#byName.byNamespace
  }

  get(namespace: string, name: string): Parent | undefined {
    return this.#byName.get(namespace, name)
  }

  /** The resource with an address. @param system of a module; default: any */
  at(namespace: string, name: string, system?: string): Parent | undefined {
    const named = this.#byName.get(namespace, name)
    if (named !== undefined && fitsSystem(named.resource?.system, system)) return named
    return this.#claims.oldest(namespace, name, system)
  }

  /** Changes whenever a Version without a parent is added or removed. */
  get waitingRevision(): number {
    return this.#waitingRevision
  }

  /** Versions that have no parent. */
  *waiting(): Generator<VersionRow> {
    for (const [, , { versions }] of this.#waiting.entries()) yield* versions
  }

  /** The reason why a parent lacks its address; undefined if it has it. */
  conflictOf(parent: Parent): Unserved | undefined {
    const winner = this.#conflicts.get(parent)
    if (winner === undefined || parent.resource === undefined) return undefined
    const { name: by } = winner
    const address = addressOf(parent.resource)
    const rest =
      parent.displacedBy === undefined
        ? `so it is served as ${parent.name} alone: give it another name in its config`
        : 'which was first: give one of them another name in its config'
    return {
      reason: 'AddressTaken',
      message: `its address ${address} is that of ${by}, ${rest}`,
      by,
    }
  }

  /** Everything that claims an address, or has it by name. @param system of a module; default: any */
  claiming(namespace: string, name: string, system?: string): ReadonlySet<Parent> {
    const claims = new Set(this.#claims.fitting(namespace, name, system))
    const named = this.#byName.get(namespace, name)
    if (named !== undefined && fitsSystem(named.resource?.system, system)) claims.add(named)
    return claims
  }

  attach(row: VersionRow): void {
    const home = this.#homeOf(row)
    this.#noteWaiting(home)
    home.insert(row)
    this.#changed(home)
  }

  detach(row: VersionRow): void {
    const home = row.parent instanceof Parent ? row.parent : this.#waitingAs(row)
    home.remove(row)
    this.#noteWaiting(home)
    this.#changed(home)
    this.#dropEmpty(row.namespace, row.parentName ?? '')
  }

  /** Applies a change of a Module or Provider. */
  change(row: ResourceRow | undefined, old: ResourceRow | undefined): void {
    const { namespace, name, kind } = (row ?? old) as ResourceRow
    const parent = this.#byName.getOrSet(
      namespace,
      name,
      () => new Parent(kind, namespace, name, this.#onRefuse),
    )
    const moved = old === undefined || isMoved(row, old)
    if (!moved) {
      parent.resource = row
      this.#changed(parent)
      return
    }
    const losing = this.#soles(name, old, row)
    const wasOldest = old !== undefined && this.#claims.remove(parent, old)
    parent.resource = row
    this.#changed(parent)
    const isOldest = row !== undefined && this.#claims.add(parent, row)
    if (row === undefined) this.#byName.delete(namespace, name)
    if (row === undefined || old === undefined || addressOf(row) !== addressOf(old))
      this.#conflicts.delete(parent)
    const names = new Set([name, row?.configName ?? name, old?.configName ?? name])
    this.#review(namespace, names, [parent, ...losing])
    if (old !== undefined && wasOldest) this.#settleBelow(old)
    if (row !== undefined && isOldest) this.#settleBelow(row)
    else if (row !== undefined) this.#settle([parent], namespace, row.configName)
    this.#settle(this.#claims.of(namespace, name), namespace, name)
  }

  /** Other parents that may lose Versions when the one with that `metadata.name` changes. */
  #soles(own: string, ...rows: readonly (ResourceRow | undefined)[]): ReadonlySet<Parent> {
    const soles = new Set<Parent>()
    for (const row of rows) {
      if (row === undefined) continue
      const { namespace, configName, system } = row
      for (const sole of this.#claims.soles(namespace, own)) soles.add(sole)
      for (const sole of this.#claims.solesBeside(namespace, configName, system)) soles.add(sole)
    }
    return soles
  }

  #resolve(row: VersionRow): Parent | undefined {
    const { namespace, parentName } = row
    if (parentName === undefined) return undefined
    const named = this.#byName.get(namespace, parentName)
    const configured = () => this.#claims.fitting(namespace, parentName, row.system)
    return parentOf(row, named, configured, traits)
  }

  /** Finds the parent again for every Version whose parent may have changed. */
  #review(namespace: string, names: ReadonlySet<string>, changed: readonly Parent[]): void {
    const lists = new Set<VersionList>(changed)
    for (const name of names) {
      const named = [this.#byName.get(namespace, name), this.#waiting.get(namespace, name)]
      for (const list of named) if (list !== undefined) lists.add(list)
    }
    const homeOf = this.#homes()
    const moving: [VersionList, VersionChunk[]][] = []
    for (const list of lists) {
      const released = list.release(homeOf)
      if (released.size > 0) this.#changed(list)
      moving.push(...released)
    }
    for (const [home, chunks] of moving) {
      home.absorb(chunks)
      this.#changed(home)
    }
    for (const name of names) this.#dropEmpty(namespace, name)
  }

  /** Finds the lists of Versions. References that many of them share are resolved once. */
  #homes(): (row: VersionRow) => VersionList {
    const known = new Map<VersionRow['common'], VersionList>()
    return (row) => {
      const home = known.get(row.common) ?? this.#homeOf(row)
      known.set(row.common, home)
      return home
    }
  }

  /** The list of a Version: that of its parent, or the list of Versions that wait for this name. */
  #homeOf(row: VersionRow): VersionList {
    return this.#resolve(row) ?? this.#waitingAs(row)
  }

  #waitingAs({ namespace, parentName = '' }: VersionRow): VersionList {
    return this.#waiting.getOrSet(namespace, parentName, () => new VersionList())
  }

  #noteWaiting(home: VersionList): void {
    if (!(home instanceof Parent)) this.#waitingRevision += 1
  }

  #changed(list: VersionList): void {
    if (!(list instanceof Parent)) return
    list.forgetMemo()
    this.#options.onChange(list)
  }

  #dropEmpty(namespace: string, name: string): void {
    const waiting = this.#waiting.get(namespace, name)
    if (waiting?.chunks.length === 0) this.#waiting.delete(namespace, name)
  }

  /** Applies a change of the oldest claim of a system. */
  #settleBelow({ namespace, configName, system }: ResourceRow): void {
    const claims =
      system === undefined
        ? this.#claims.of(namespace, configName)
        : this.#claims.ofSystem(namespace, configName, system)
    this.#settle(claims, namespace, configName)
  }

  /** Finds the owners of the addresses that parents with a name claim. */
  #settle(claims: readonly Parent[], namespace: string, name: string): void {
    const named = this.#byName.get(namespace, name)
    for (const claim of claims) {
      const winner = this.#claims.winnerOf(claim, named)
      const lost = winner !== claim
      // The parent with that name gets the address. The others keep only their own names.
      const displacedBy = lost && winner !== named ? winner.name : undefined
      if (claim.displacedBy !== displacedBy || claim.hasAddress === lost) {
        claim.displacedBy = displacedBy
        claim.hasAddress = !lost
        this.#changed(claim)
      }
      if (lost) this.#lose(claim, winner)
      else this.#conflicts.delete(claim)
    }
  }

  #lose(parent: Parent, winner: Parent): void {
    if (this.#conflicts.get(parent) === winner) return
    this.#conflicts.set(parent, winner)
    this.#changed(parent)
    this.#options.onConflict(parent)
  }
}

const traits = {
  system: ({ resource }: Parent) => resource?.system,
  uid: ({ resource }: Parent) => resource?.uid ?? '',
}

/** `network/aws`, or the type of a provider. */
function addressOf({ configName, system }: ResourceRow): string {
  return system === undefined ? configName : `${configName}/${system}`
}

/** Whether its address or its Versions may have changed. */
function isMoved(row: ResourceRow | undefined, old: ResourceRow): boolean {
  return (
    row === undefined ||
    row.configName !== old.configName ||
    row.system !== old.system ||
    row.uid !== old.uid ||
    row.rank !== old.rank
  )
}

/** Claims with one name, by system, the oldest first. */
type Claims = Map<string | undefined, readonly Parent[]>

/**
 * Modules or providers by the name in their config, which is the name in their address. Thousands may share a name, so a
 * change only reads those whose address or Versions it may affect.
 */
class AddressClaims {
  /** Most names have one claim, so only others need a map. */
  readonly #claims = new NamedRows<Parent | Claims>()

  /** All claims of a name, in any order. */
  of(namespace: string, name: string): readonly Parent[] {
    return [...this.#of(namespace, name).values()].flat()
  }

  /** The claims of one system, the oldest first. */
  ofSystem(namespace: string, name: string, system: string | undefined): readonly Parent[] {
    return this.#of(namespace, name).get(system) ?? []
  }

  /** Matching claims, in any order. @param system undefined matches any */
  *fitting(namespace: string, name: string, system: string | undefined): Generator<Parent> {
    const claims = this.#of(namespace, name)
    const lists =
      system === undefined ? claims.values() : [claims.get(system), claims.get(undefined)]
    for (const list of lists) yield* list ?? []
  }

  /** The oldest matching claim. @param system undefined matches any */
  oldest(namespace: string, name: string, system: string | undefined): Parent | undefined {
    const claims = this.#of(namespace, name)
    if (system !== undefined) return older(claims.get(system)?.[0], claims.get(undefined)?.[0])
    let oldest: Parent | undefined
    for (const [first] of claims.values()) oldest = older(oldest, first)
    return oldest
  }

  /** @returns whether the row is the oldest of its system now */
  add(parent: Parent, row: ResourceRow): boolean {
    const { namespace, configName, system } = row
    const claims = this.#of(namespace, configName)
    const same = claims.get(system) ?? []
    const place = placeOf(same, row)
    claims.set(system, same.toSpliced(place, 0, parent))
    const isSole = claims.size === 1 && same.length === 0
    this.#claims.set(namespace, configName, isSole ? parent : claims)
    return place === 0
  }

  /** @param row as it was added @returns whether it was the oldest of its system */
  remove(parent: Parent, { namespace, configName, system }: ResourceRow): boolean {
    const claims = this.#of(namespace, configName)
    const same = claims.get(system) ?? []
    const place = same.indexOf(parent)
    if (place === -1) return false
    if (same.length > 1) claims.set(system, same.toSpliced(place, 1))
    else claims.delete(system)
    if (claims.size === 0) this.#claims.delete(namespace, configName)
    return place === 0
  }

  /** Claims that may own Versions by the name in their config, because no other claim of their system has that name. */
  soles(namespace: string, name: string): readonly Parent[] {
    return [...this.#of(namespace, name).values()].filter(isOne).map(([sole]) => sole)
  }

  /** The claims that may lose Versions when a claim of another system is added or removed. */
  solesBeside(namespace: string, name: string, system: string | undefined): readonly Parent[] {
    const claims = this.#of(namespace, name)
    const any = claims.get(undefined)
    // A claim without a system matches unless there is another such claim.
    if (claims.size === 1 || (system === undefined && any === undefined))
      return this.soles(namespace, name)
    return [claims.get(system) ?? [], any ?? []].filter(isOne).map(([sole]) => sole)
  }

  /**
   * Finds the owner of the address of a claim. A claim without a system owns every address that no older claim owns.
   *
   * @param named the claim with this `metadata.name`, which takes precedence
   */
  winnerOf(claim: Parent, named: Parent | undefined): Parent {
    if (claim.resource === undefined) return claim
    const { namespace, configName, system } = claim.resource
    if (named?.resource && fitsSystem(named.resource.system, system)) {
      if (named.resource.system === undefined || system !== undefined) return named
    }
    const claims = this.#of(namespace, configName)
    return older(claims.get(system)?.[0], claims.get(undefined)?.[0]) ?? claim
  }

  #of(namespace: string, name: string): Claims {
    const known = this.#claims.get(namespace, name)
    if (known instanceof Parent) return new Map([[known.resource?.system, [known]]])
    return known ?? new Map()
  }
}

const isOne = (parents: readonly Parent[]): parents is readonly [Parent] => parents.length === 1

function older(a: Parent | undefined, b: Parent | undefined): Parent | undefined {
  if (a?.resource === undefined || b?.resource === undefined) return a ?? b
  return isOlder(b.resource, a.resource) ? b : a
}

/** The place of a row in a sorted list. */
const placeOf = (parents: readonly Parent[], row: ResourceRow): number =>
  lowerBound(parents, ({ resource }) => resource === undefined || !isOlder(row, resource))
