import {
  type ModuleConfig,
  type ProviderConfig,
  parentOf,
  parentRefOf,
  type Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import type { Objects, StoredObject } from '../../../records/store/store.ts'

const traits = {
  system: (parent: StoredObject) => systemOf(configOf(parent)),
  uid: ({ metadata }: StoredObject) => metadata.uid,
}

/** The Module or Provider of a Version, as servers find it. An owner that was deleted and created again counts, too. */
export function parentOfVersion(
  { objects }: { readonly objects: Pick<Objects, 'get' | 'list'> },
  version: Version,
): StoredObject | undefined {
  const ref = parentRefOf(version)
  if (ref === undefined) return undefined
  const { kind, name, owned } = ref
  const { namespace } = version.metadata
  const wanted = {
    ownerUid: owned ? '' : undefined,
    system: systemOf(version.spec.moduleConfigRef),
  }
  const configured = () =>
    objects
      .list(kind, { namespace })
      .filter((parent) => (configOf(parent)?.name ?? parent.metadata.name) === name)
  return parentOf(wanted, objects.get(kind, namespace, name), configured, traits)
}

/** The config of a Module or Provider. */
export function configOf(
  parent: StoredObject | undefined,
): ModuleConfig | ProviderConfig | undefined {
  if (parent === undefined) return undefined
  const { moduleConfig, providerConfig } = parent.spec as {
    moduleConfig?: ModuleConfig
    providerConfig?: ProviderConfig
  }
  return moduleConfig ?? providerConfig
}

/** The config of a Version of a module, which can say more than that of its Module. */
export const moduleConfigOf = (
  parent: StoredObject | undefined,
  { spec }: Version,
): ModuleConfig => ({
  ...configOf(parent),
  ...spec.moduleConfigRef,
})

/** The same of a provider. */
export const providerConfigOf = (
  parent: StoredObject | undefined,
  { spec }: Version,
): Partial<ProviderConfig> => ({ ...configOf(parent), ...spec.providerConfigRef })

const systemOf = (config: ModuleConfig | ProviderConfig | undefined): string | undefined =>
  config !== undefined && 'provider' in config ? config.provider : undefined
