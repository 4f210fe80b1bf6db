import { type Backend, backendOf, type StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import type { WritableDriver } from './driver.ts'
import { type GrantOptions, StorageGrants } from './grants.ts'
import { createPlaces, type StorageSettings } from './places.ts'

/** The storage of the archives of one module or provider. */
export interface ArchivePlace {
  readonly backend: Backend
  readonly driver: WritableDriver
  /** The prefix of all its object names. It ends with `/`, or is empty if the module or provider has its own container. */
  readonly prefix: string
  /** Name of an archive's object for `driver`. */
  readonly object: (fileName: string) => string
  /** Whether archives of a namespace may be stored and removed here. Reading needs no grant. */
  isGrantedTo(namespace: string): boolean
  /** Whether the operator granted the place of an archive only to some of these namespaces. */
  isReservedFor(namespaces: readonly string[], fileName: string): boolean
}

/** The places that namespaces may write to. */
export type StoreGrants = Pick<GrantOptions, 'text' | 'annotationOf' | 'onInvalid'>

/** The same places as a server reads, for writing: a StorageConfig leads both to the same object. */
export interface ArchiveStore {
  /**
   * @param configName name of the module or provider in its config
   * @throws RegistryError NotFound if such a place cannot exist
   */
  for(storage: StorageConfig, configName: string): ArchivePlace
}

/**
 * @param settings those of the server
 * @param grants those of the server; default: every namespace may use every place
 */
export function openArchiveStore(settings: StorageSettings, grants?: StoreGrants): ArchiveStore {
  const placeOf = createPlaces(settings)
  const granted =
    grants === undefined
      ? undefined
      : new StorageGrants({ ...grants, mountPath: settings.filesystemMountPath })
  return {
    for(storage, configName) {
      const at = (fileName: string) => placeOf({ storage, configName, fileName })
      const object = (fileName: string) => at(fileName).object
      const { driver, url } = at('')
      return {
        backend: backendOf(storage),
        driver,
        prefix: object(''),
        object,
        isGrantedTo: (namespace) => granted?.allows(namespace, url) ?? true,
        isReservedFor: (namespaces, fileName) =>
          granted?.isReserved(namespaces, at(fileName).url) ?? false,
      }
    },
  }
}
