import type { Module, Provider, Version } from '../apis/v1alpha1/v1alpha1.ts'
import type { Finding } from './finding.ts'
import { about, groupBy, isOf, type Placed, placeOf } from './object.ts'

export type PlacedParent = Placed<Module> | Placed<Provider>

const configNameOf = ({ resource }: PlacedParent): string =>
  (resource.kind === 'Module'
    ? resource.spec.moduleConfig.name
    : resource.spec.providerConfig.name) ?? resource.metadata.name

const systemOf = ({ resource }: PlacedParent): string | undefined =>
  resource.kind === 'Module' ? resource.spec.moduleConfig.provider : undefined

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

  /** By owner reference, else by `metadata.name`, else by the name and system of its config where just one fits. */
  of({ resource: { metadata, spec } }: Placed<Version>): PlacedParent | undefined {
    const kind = spec.type
    const named = (name: string) => this.#byName.get(`${kind} ${metadata.namespace} ${name}`)?.[0]
    const owner = metadata.ownerReferences.find((reference) => reference.kind === kind)
    if (owner !== undefined) return named(owner.name)
    const config = kind === 'Module' ? spec.moduleConfigRef : spec.providerConfigRef
    if (config?.name === undefined) return undefined
    const system = kind === 'Module' ? spec.moduleConfigRef?.provider : undefined
    const fits = (parent: PlacedParent) => {
      const own = systemOf(parent)
      return own === undefined || system === undefined || own === system
    }
    const exact = named(config.name)
    if (exact !== undefined && fits(exact)) return exact
    const others = this.#byConfigName.get(`${kind} ${metadata.namespace} ${config.name}`) ?? []
    const fitting = others.filter(fits)
    return fitting.length === 1 ? fitting[0] : undefined
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
