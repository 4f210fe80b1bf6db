import {
  type ArchiveLocation,
  type Backend,
  backendOf,
  type StorageConfig,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { ProxyRules } from '../../base/http/http.ts'
import { Bounded } from '../../base/memory/memory.ts'
import type { Driver, WritableDriver } from './driver.ts'
import { createFilesystemDriver, directoryInMount } from './file/filesystem.ts'
import { type GrantOptions, placeUrl, StorageGrants } from './grants.ts'
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

/**
 * Reads the variables that the tools of each cloud read. The SDKs read others themselves.
 *
 * @returns the settings, and a problem for each variable that is not a valid URL
 */
export function storageOfEnvironment(env: Readonly<Record<string, string | undefined>>): {
  readonly settings: Pick<StorageSettings, 's3' | 'azure' | 'gcs'>
  readonly problems: readonly string[]
} {
  const endpoints = ['DEPOT_S3_ENDPOINT', 'DEPOT_GCS_ENDPOINT'] as const
  const problems = endpoints
    .filter((name) => !isEndpoint(env[name]))
    .map((name) => `${name} is not a URL such as http://127.0.0.1:9000`)
  const [s3Endpoint, gcsEndpoint] = endpoints.map((name) => env[name] || undefined)
  const settings = {
    s3: {
      endpoint: s3Endpoint,
      accessKeyId: env['AWS_ACCESS_KEY_ID'],
      secretAccessKey: env['AWS_SECRET_ACCESS_KEY'],
      sessionToken: env['AWS_SESSION_TOKEN'],
    },
    azure: { connectionString: env['AZURE_STORAGE_CONNECTION_STRING'] },
    gcs: { endpoint: gcsEndpoint },
  }
  return { settings, problems }
}

function isEndpoint(value = ''): boolean {
  if (value === '') return true
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/'
}

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
