import type { StorageConfig } from '../apis/v1alpha1/v1alpha1.ts'
import { type Backend, backendOf } from './backends.ts'
import type { WritableDriver } from './driver.ts'
import { createPlaces, type StorageSettings } from './places.ts'

/** Where the archives of one module or provider are. */
export interface ArchivePlace {
  readonly backend: Backend
  readonly driver: WritableDriver
  /** What the names of all its objects begin with; ends with `/`, or is empty where it has a container of its own. */
  readonly prefix: string
  /** The object of an archive, as `driver` names it. */
  readonly object: (fileName: string) => string
}

/** The places that a server reads from, to be written: the same StorageConfig leads both to the same object. */
export interface ArchiveStore {
  /**
   * @param configName name of the module or provider in its config
   * @throws RegistryError NotFound where there cannot be such a place
   */
  for(storage: StorageConfig, configName: string): ArchivePlace
}

/** @param settings as the server has them */
export function openArchiveStore(settings: StorageSettings): ArchiveStore {
  const placeOf = createPlaces(settings)
  return {
    for(storage, configName) {
      const object = (fileName: string) => placeOf({ storage, configName, fileName }).object
      const { driver } = placeOf({ storage, configName, fileName: '' })
      return { backend: backendOf(storage), driver, prefix: object(''), object }
    },
  }
}
