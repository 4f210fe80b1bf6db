import { fitsSystem } from '../../api/v1alpha1/v1alpha1.ts'
import { NamedRows } from './collections.ts'
import { isOlder, lowerBound } from './compare.ts'
import { Parent } from './parent.ts'
import type { ResourceRow } from './resource-row.ts'

/** Claims with one name, by system, the oldest first. */
type Claims = Map<string | undefined, readonly Parent[]>

/**
 * Modules or providers by the name in their config, which is the name in their address. Thousands may share a name, so a
 * change only reads those whose address or Versions it may affect.
 */
export class AddressClaims {
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
