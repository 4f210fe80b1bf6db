import {
  configOfParent,
  type Module,
  type ObjectKey,
  type Provider,
  parentOf,
  parentRefOf,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import {
  about,
  groupBy,
  isOf,
  type LintFinding,
  type PlacedObject,
  placeOf,
  repeats,
} from './finding.ts'

export type PlacedParent = PlacedObject<Module> | PlacedObject<Provider>

export const configNameOf = ({ resource }: PlacedParent): string =>
  configOfParent(resource).name ?? resource.metadata.name

const systemOf = ({ resource }: PlacedParent): string | undefined =>
  resource.kind === 'Module' ? resource.spec.moduleConfig.provider : undefined

const traits = {
  system: systemOf,
  uid: ({ resource }: PlacedParent) => resource.metadata.uid ?? '',
}

const textOf = ({ kind, namespace, name }: ObjectKey): string => `${kind} ${namespace} ${name}`

/** The modules and providers of the manifests. */
export class ManifestParents {
  readonly all: readonly PlacedParent[]
  readonly #byName: Map<string | undefined, PlacedParent[]>
  readonly #byConfigName: Map<string | undefined, PlacedParent[]>

  readonly #rejected: ReadonlySet<string>

  /** @param rejected objects that could not be read */
  constructor(objects: readonly PlacedObject[], rejected: readonly ObjectKey[]) {
    this.#rejected = new Set(rejected.map(textOf))
    this.all = [...objects.filter(isOf('Module')), ...objects.filter(isOf('Provider'))]
    this.#byName = groupBy(this.all, ({ key }) => textOf(key))
    this.#byConfigName = groupBy(
      this.all,
      (parent) => `${parent.key.kind} ${parent.key.namespace} ${configNameOf(parent)}`,
    )
  }

  /** Tells whether a Version names a parent that could not be read. */
  isRejected({ resource }: PlacedObject<Version>): boolean {
    const ref = parentRefOf(resource)
    const { namespace } = resource.metadata
    return ref !== undefined && this.#rejected.has(textOf({ ...ref, namespace }))
  }

  /** Finds the parent of a Version as the registry does. */
  of({ resource }: PlacedObject<Version>): PlacedParent | undefined {
    const ref = parentRefOf(resource)
    if (ref === undefined) return undefined
    const key = textOf({ ...ref, namespace: resource.metadata.namespace })
    const wanted = {
      ownerUid: ref.owned ? ref.uid : undefined,
      system: resource.spec.moduleConfigRef?.provider,
    }
    const configured = () => this.#byConfigName.get(key) ?? []
    return parentOf(wanted, this.#byName.get(key)?.[0], configured, traits)
  }
}

/** Finds modules and providers with the same address. */
export function* addressConflicts({ all }: ManifestParents): Generator<LintFinding> {
  const isNamesake = (parent: PlacedParent) => Number(configNameOf(parent) === parent.key.name)
  const addressOf = (parent: PlacedParent) =>
    [parent.key.kind, parent.key.namespace, configNameOf(parent), systemOf(parent) ?? '*'].join(' ')
  // The parent whose metadata.name matches is served.
  const sorted = all.toSorted((a, b) => isNamesake(b) - isNamesake(a))
  for (const [first, other] of repeats(sorted, addressOf)) {
    const address = [configNameOf(other), systemOf(other)].filter(Boolean).join('/')
    const message = `${address} is the address of ${placeOf(first)} too, which is served: give one of them another name or system`
    yield about(other, 'address-conflict', message)
  }
}
