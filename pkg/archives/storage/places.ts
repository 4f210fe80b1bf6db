import type { ArchiveLocation, Backend } from '../../api/v1alpha1/v1alpha1.ts'
import type { ProxyRules } from '../../base/http/http.ts'
import { Bounded } from '../../base/memory/memory.ts'
import type { Driver, WritableDriver } from './driver.ts'
import { createFilesystemDriver, directoryInMount } from './file/filesystem.ts'
import { placeUrl } from './grants.ts'
import { type AzureSettings, createAzureStores } from './remote/azure.ts'
import { createGcsStores, type GcsSettings } from './remote/gcs.ts'
import { createRemoteDriver } from './remote/remote-driver.ts'
import type { RemoteStore } from './remote/remote-store.ts'
import { createS3Stores, type S3Settings } from './remote/s3.ts'
import { createTransport, defaultTimings, type RemoteTimings } from './remote/transport.ts'

/** The place of an archive, and its driver. */
export interface Place {
  readonly backend: Backend
  readonly driver: Driver
  readonly object: string
  /** The object as grants name it. */
  readonly url: string
  /** Unique for each object. */
  readonly key: string
}

/** The same place, for writing. */
export interface WritablePlace extends Place {
  readonly driver: WritableDriver
}

/** How to reach each backend. No value comes from a request or a Version. */
export interface StorageSettings {
  /** Root of the filesystem backend. */
  readonly filesystemMountPath: string
  readonly s3?: S3Settings
  readonly azure?: AzureSettings
  readonly gcs?: GcsSettings
  /** Proxies for the stores. Default: none. */
  readonly proxies?: ProxyRules | undefined
  readonly timings?: Partial<RemoteTimings>
}

/** Maximum number of drivers, one for each bucket or container. */
const maxDrivers = 1000

/**
 * Resolves a location of any backend to a driver and the name of an object there.
 *
 * @throws RegistryError NotFound if such an object cannot exist
 */
export function createPlaces(
  settings: StorageSettings,
): (location: ArchiveLocation) => WritablePlace {
  const mountPath = settings.filesystemMountPath
  const filesystem = createFilesystemDriver({ mountPath })
  const timings = { ...defaultTimings, ...settings.timings }
  const transport = createTransport(timings, settings.proxies)
  const drivers = new Bounded<WritableDriver>({ maxEntries: maxDrivers })
  const driverFor = (store: () => RemoteStore, ...key: string[]) =>
    drivers.getOrMake(JSON.stringify(key), () =>
      createRemoteDriver({ store: store(), transport, timings }),
    )

  const s3Store = createS3Stores(settings.s3 ?? {}, settings.proxies)
  const gcsStore = createGcsStores(settings.gcs ?? {})
  const azureAccount = createAzureStores(settings.azure ?? {})
  const azureAccounts = new Bounded<ReturnType<typeof azureAccount>>({ maxEntries: maxDrivers })

  const find = ({
    storage,
    configName,
    fileName,
  }: ArchiveLocation): Omit<WritablePlace, 'url' | 'key'> => {
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

  return (location) => {
    const place = find(location)
    const { object } = place
    return { ...place, url: placeUrl(location, object), key: keyOf(location, object) }
  }
}

function keyOf({ storage, configName }: ArchiveLocation, object: string): string {
  const { s3, azureStorage: azure, gcs } = storage
  if (s3) return JSON.stringify(['s3', s3.bucket, s3.region, object])
  if (azure) {
    return JSON.stringify(['azure', azure.accountName, azure.accountUrl, configName, object])
  }
  return JSON.stringify(gcs ? ['gcs', gcs.bucket, object] : ['filesystem', object])
}

/** The name of an object below a prefix, with or without slashes around it. */
function below(prefix: string, object: string): string {
  const inner = prefix.replaceAll(/^\/+|\/+$/g, '')
  return inner === '' ? object : `${inner}/${object}`
}
