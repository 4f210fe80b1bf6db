import type { ArchiveLocation } from '../apis/v1alpha1/v1alpha1.ts'
import { notFound } from '../errors/errors.ts'
import { type Backend, backendOf } from './backends.ts'
import type { Driver } from './driver.ts'
import { createFilesystemDriver, directoryInMount } from './filesystem.ts'

/** Where an archive is to be read, and by whom. */
export interface Place {
  readonly backend: Backend
  readonly driver: Driver
  readonly object: string
}

/**
 * The one table of backends: it turns a location into a driver and the name of an object there.
 *
 * @throws RegistryError NotFound where there cannot be such an object
 */
export function createPlaces(options: {
  filesystemMountPath: string
}): (location: ArchiveLocation) => Place {
  const mountPath = options.filesystemMountPath
  const filesystem = createFilesystemDriver({ mountPath })

  const backends: Record<Backend, (location: ArchiveLocation) => Omit<Place, 'backend'>> = {
    filesystem({ storage, configName, fileName }) {
      const directory = directoryInMount(mountPath, storage.fileSystem?.directoryPath ?? '')
      const object = `${configName}/${fileName}`
      return { driver: filesystem, object: directory === '' ? object : `${directory}/${object}` }
    },
    s3: () => notServed('S3'),
    azure: () => notServed('Azure'),
    gcs: () => notServed('Google Cloud Storage'),
  }

  return (location) => {
    const backend = backendOf(location.storage)
    return { backend, ...backends[backend](location) }
  }
}

function notServed(backend: string): never {
  throw notFound(`this registry does not serve archives from ${backend} yet`)
}
