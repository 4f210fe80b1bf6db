import { fitsSystem } from '../apis/v1alpha1/v1alpha1.ts'
import { NamedRows } from './named-rows.ts'
import type { Parent } from './parent.ts'
import { isOlder } from './rank.ts'
import type { ResourceRow } from './resource-row.ts'

/** Modules, or providers, by the name in their config, which is the name in their address. */
export class AddressClaims {
  readonly #claims = new NamedRows<readonly Parent[]>()

  /** The oldest first. */
  of(namespace: string, name: string): readonly Parent[] {
    return this.#claims.get(namespace, name) ?? []
  }

  add(parent: Parent, row: ResourceRow): void {
    const others = this.of(row.namespace, row.configName)
    const index = others.findIndex(({ resource }) => resource && isOlder(row, resource))
    const place = index === -1 ? others.length : index
    this.#claims.set(row.namespace, row.configName, others.toSpliced(place, 0, parent))
  }

  remove(parent: Parent, { namespace, configName }: ResourceRow): void {
    const others = this.of(namespace, configName).filter((other) => other !== parent)
    if (others.length === 0) this.#claims.delete(namespace, configName)
    else this.#claims.set(namespace, configName, others)
  }

  /**
   * Who has the address that each of the claims of a name asks for.
   *
   * @param named the one whose `metadata.name` it is, which comes first
   */
  *winners(
    namespace: string,
    name: string,
    named: Parent | undefined,
  ): Generator<readonly [claim: Parent, winner: Parent]> {
    const claims = this.of(namespace, name)
    if (claims.length === 0) return
    const bySystem = new Map<string | undefined, Parent>()
    let ofAny: Parent | undefined
    for (const claim of claims) {
      const system = claim.resource?.system
      // One that says no system has those of all that no older one has.
      if (system === undefined) ofAny ??= claim
      if (!bySystem.has(system)) bySystem.set(system, ofAny ?? claim)
    }
    for (const claim of claims) {
      const system = claim.resource?.system
      const isNamed = named?.resource && fitsSystem(named.resource.system, system)
      const hasAll = named?.resource?.system === undefined || system !== undefined
      if (isNamed && hasAll && named !== undefined) yield [claim, named]
      else yield [claim, bySystem.get(system) ?? claim]
    }
  }
}
