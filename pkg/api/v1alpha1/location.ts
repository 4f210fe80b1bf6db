import {
  type ArchiveLocation,
  configOfParent,
  configOfVersion,
  fileNameOf,
  parentRefOf,
} from './archive.ts'
import type { Module } from './module.ts'
import type { Provider } from './provider.ts'
import type { StorageConfig } from './storage-config.ts'
import type { Version } from './version.ts'

/** What a Version, or its parent, says of where archives are. */
interface Place {
  readonly storage: StorageConfig | undefined
  /** Name in storage. */
  readonly configName: string | undefined
}

/**
 * Where an archive is: storage and name are each those of the Version's own copy of the config, else its parent's; what
 * has a name nowhere goes by that of its parent.
 *
 * @param parentName what the Version calls its parent
 * @returns undefined where a part of it is not known
 */
export function locationFrom(
  fileName: string | undefined,
  own: Place | undefined,
  inherited: Place | undefined,
  parentName: string | undefined,
): ArchiveLocation | undefined {
  const storage = own?.storage ?? inherited?.storage
  const configName = own?.configName ?? inherited?.configName ?? parentName
  if (fileName === undefined || storage === undefined || configName === undefined) return undefined
  return { storage, configName, fileName }
}

/**
 * As {@link locationFrom}, of whole objects.
 *
 * @param parent as `parentOf` finds it
 */
export function locationOf(
  version: Version,
  parent: Module | Provider | undefined,
): ArchiveLocation | undefined {
  const own = configOfVersion(version)
  const inherited = parent && configOfParent(parent)
  return locationFrom(
    fileNameOf(version),
    own && { storage: own.storageConfig, configName: own.name },
    parent && { storage: inherited?.storageConfig, configName: inherited?.name },
    parent?.metadata.name ?? parentRefOf(version)?.name,
  )
}
