import type { ArchiveLocation } from '../apis/v1alpha1/v1alpha1.ts'
import { Bounded } from '../memory/memory.ts'
import { type AzureSettings, createAzureStores } from './azure.ts'
import type { Backend } from './backends.ts'
import type { Driver } from './driver.ts'
import { createFilesystemDriver, directoryInMount } from './filesystem.ts'
import { createGcsStores, type GcsSettings } from './gcs.ts'
import { createRemoteDriver } from './remote-driver.ts'
import type { RemoteStore } from './remote-store.ts'
import { createS3Stores, type S3Settings } from './s3.ts'
import { createTransport, defaultTimings, type RemoteTimings } from './transport.ts'

/** Where an archive is to be read, and by whom. */
export interface Place {
  readonly backend: Backend
  readonly driver: Driver
  readonly object: string
}

/** How each backend is reached. Nothing here comes from a request or from a Version. */
export interface StorageSettings {
  /** Root of the filesystem backend. */
  readonly filesystemMountPath: string
  readonly s3?: S3Settings
  readonly azure?: AzureSettings
  readonly gcs?: GcsSettings
  readonly timings?: Partial<RemoteTimings>
}

/** Drivers that are kept, one for each bucket or container. */
const maxDrivers = 1000

/**
 * The one table of backends: it turns a location into a driver and the name of an object there.
 *
 * @throws RegistryError NotFound where there cannot be such an object
 */
export function createPlaces(settings: StorageSettings): (location: ArchiveLocation) => Place {
  const mountPath = settings.filesystemMountPath
  const filesystem = createFilesystemDriver({ mountPath })
  const timings = { ...defaultTimings, ...settings.timings }
  const transport = createTransport(timings)
  const drivers = new Bounded<Driver>({ maxEntries: maxDrivers })
  const driverFor = (store: () => RemoteStore, ...key: string[]) =>
    drivers.getOrMake(JSON.stringify(key), () =>
      createRemoteDriver({ store: store(), transport, timings }),
    )

  const s3Store = createS3Stores(settings.s3 ?? {})
  const gcsStore = createGcsStores(settings.gcs ?? {})
  const azureAccount = createAzureStores(settings.azure ?? {})
  const azureAccounts = new Bounded<ReturnType<typeof azureAccount>>({ maxEntries: maxDrivers })

  return ({ storage, configName, fileName }) => {
    const { s3, azureStorage: azure, gcs, fileSystem } = storage
    const object = `${configName}/${fileName}`
    if (s3) {
      const { bucket, region } = s3
      const driver = driverFor(() => s3Store(bucket, region), 's3', bucket, region)
      return { backend: 's3', driver, object: below(s3.key ?? '', object) }
    }
    if (azure) {
      const { accountName, accountUrl } = azure
      const account = () =>
        azureAccounts.getOrMake(JSON.stringify([accountName, accountUrl]), () =>
          azureAccount(azure),
        )
      const store = () => account()(configName)
      const driver = driverFor(store, 'azure', accountName, accountUrl, configName)
      return { backend: 'azure', driver, object: fileName }
    }
    if (gcs) {
      const driver = driverFor(() => gcsStore(gcs.bucket), 'gcs', gcs.bucket)
      return { backend: 'gcs', driver, object }
    }
    const directory = directoryInMount(mountPath, fileSystem?.directoryPath ?? '')
    return { backend: 'filesystem', driver: filesystem, object: below(directory, object) }
  }
}

/** The name of an object behind a prefix, with or without slashes around it. */
function below(prefix: string, object: string): string {
  const inner = prefix.replaceAll(/^\/+|\/+$/g, '')
  return inner === '' ? object : `${inner}/${object}`
}
