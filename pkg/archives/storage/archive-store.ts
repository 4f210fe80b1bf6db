import { type Backend, backendOf, type StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import type { WritableDriver } from './driver.ts'
import { type GrantOptions, StorageGrants } from './grants.ts'
import { createPlaces, type StorageSettings } from './places.ts'

/** Where the archives of one module or provider are. */
export interface ArchivePlace {
  readonly backend: Backend
  readonly driver: WritableDriver
  /** What the names of all its objects begin with; ends with `/`, or is empty where it has a container of its own. */
  readonly prefix: string
  /** The object of an archive, as `driver` names it. */
  readonly object: (fileName: string) => string
  /** Whether what a namespace asks for may be stored and removed here. Reading needs no grant. */
  isGrantedTo(namespace: string): boolean
  /** Whether the operator granted the place of an archive to some of these namespaces, and to no other. */
  isReservedFor(namespaces: readonly string[], fileName: string): boolean
}

/** Which places namespaces may fill and clear. */
export type StoreGrants = Pick<GrantOptions, 'text' | 'annotationOf' | 'onInvalid'>

/** The places that a server reads from, to be written: the same StorageConfig leads both to the same object. */
export interface ArchiveStore {
  /**
   * @param configName name of the module or provider in its config
   * @throws RegistryError NotFound where there cannot be such a place
   */
  for(storage: StorageConfig, configName: string): ArchivePlace
}

/**
 * @param settings as the server has them
 * @param grants as the server has them; default: every namespace may use every place
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
