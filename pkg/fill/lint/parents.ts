import {
  type Module,
  type Provider,
  parentOf,
  parentRefOf,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Finding } from './finding.ts'
import { about, groupBy, isOf, type Placed, placeOf } from './object.ts'

export type PlacedParent = Placed<Module> | Placed<Provider>

const configNameOf = ({ resource }: PlacedParent): string =>
  (resource.kind === 'Module'
    ? resource.spec.moduleConfig.name
    : resource.spec.providerConfig.name) ?? resource.metadata.name

const systemOf = ({ resource }: PlacedParent): string | undefined =>
  resource.kind === 'Module' ? resource.spec.moduleConfig.provider : undefined

const traits = {
  system: systemOf,
  uid: ({ resource }: PlacedParent) => resource.metadata.uid ?? '',
}

/** The modules and providers of the manifests, and which Version belongs to which. */
export class Parents {
  readonly all: readonly PlacedParent[]
  readonly #byName: Map<string, PlacedParent[]>
  readonly #byConfigName: Map<string, PlacedParent[]>

  constructor(objects: readonly Placed[]) {
    this.all = [...objects.filter(isOf('Module')), ...objects.filter(isOf('Provider'))]
    this.#byName = groupBy(this.all, ({ key }) => `${key.kind} ${key.namespace} ${key.name}`)
    this.#byConfigName = groupBy(
      this.all,
      (parent) => `${parent.key.kind} ${parent.key.namespace} ${configNameOf(parent)}`,
    )
  }

  /** As the registry finds it. */
  of({ resource }: Placed<Version>): PlacedParent | undefined {
    const ref = parentRefOf(resource)
    if (ref === undefined) return undefined
    const key = `${ref.kind} ${resource.metadata.namespace} ${ref.name}`
    const wanted = {
      ownerUid: ref.owned ? ref.uid : undefined,
      system: resource.spec.moduleConfigRef?.provider,
    }
    const configured = () => this.#byConfigName.get(key) ?? []
    return parentOf(wanted, this.#byName.get(key)?.[0], configured, traits)
  }
}

/** Modules and providers that would be served under one address. */
export function* addressConflicts({ all }: Parents): Generator<Finding> {
  const addresses = groupBy(all, (parent) =>
    [parent.key.kind, parent.key.namespace, configNameOf(parent), systemOf(parent) ?? '*'].join(
      ' ',
    ),
  )
  for (const parents of addresses.values()) {
    const [first, ...others] = parents.toSorted(
      (a, b) => Number(configNameOf(b) === b.key.name) - Number(configNameOf(a) === a.key.name),
    )
    for (const other of first === undefined ? [] : others) {
      const address = [configNameOf(other), systemOf(other)].filter(Boolean).join('/')
      yield about(
        other,
        'address-conflict',
        `${address} is the address of ${placeOf(first as PlacedParent)} too, which is served: give one of them another name or system`,
      )
    }
  }
}
