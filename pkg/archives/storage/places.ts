import { resolve } from 'node:path'
import {
  type ArchiveLocation,
  type Backend,
  backendOf,
  type StorageConfig,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { ProxyRules } from '../../base/http/http.ts'
import { Bounded, CappedMap } from '../../base/memory/memory.ts'
import type { Driver, WritableDriver } from './driver.ts'
import { directoryInMount } from './file/file-reading.ts'
import { createFilesystemDriver } from './file/filesystem.ts'
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

/** The places that each namespace may use without proof that it knows their content. */
interface GrantOptions {
  /** Entries `NAMESPACE=URL …`, both with `*`; default: none. @see parseGrants */
  readonly text?: string | undefined
  /** The current value of the annotation `{api_group}/storage` of a namespace. */
  readonly annotationOf?: ((namespace: string) => string | undefined) | undefined
  /** Root of the filesystem backend; URLs may be absolute or relative to it. */
  readonly mountPath: string
  /** Called with every part of an annotation that is not a valid location. */
  readonly onInvalid?: (namespace: string, part: string) => void
}

/** A URL of {@link placeUrl}, or the beginning of one, segment by segment. */
type PlacePattern = readonly Wildcard[]

interface Grant {
  /** As written, with its `*`. */
  readonly name: string
  readonly namespace: Wildcard
  readonly place: PlacePattern
}

interface NamespaceGrants {
  readonly text: string
  readonly places: readonly PlacePattern[]
}

const everywhere: PlacePattern = []
const schemes = ['s3:', 'azure:', 'gs:', 'file:']
/** An annotation may have 256 kB, and each of its places is compared with each archive. */
const maxPlaces = 1000
/** Number of namespaces whose parsed annotation is kept. */
const maxNamespaces = 100_000

/**
 * The places that were granted to namespaces. Administrators write grants, never tenants: into annotations of Namespace
 * objects, which only administrators may change, or into an option of the server.
 */
export class StorageGrants {
  readonly #options: GrantOptions
  readonly #all: readonly Grant[]
  readonly #annotated = new CappedMap<string, NamespaceGrants>(maxNamespaces)

  /** @throws Error naming each invalid part of `text` */
  constructor(options: GrantOptions) {
    this.#options = options
    const { grants, problems } = parseGrants(options.text ?? '')
    if (problems.length > 0) throw new Error(problems.join('; '))
    this.#all = grants.flatMap(({ namespace, url }) => {
      const place = placePattern(url, options.mountPath)
      if (place === undefined) return []
      return [{ name: namespace, namespace: compileWildcard(namespace), place }]
    })
  }

  /** @param url of {@link placeUrl} */
  allows(namespace: string, url: string): boolean {
    const segments = segmentsOf(url)
    const isHere = (place: PlacePattern) => isBelow(segments, place)
    return (
      this.#all.some((grant) => grant.namespace(namespace) && isHere(grant.place)) ||
      this.#ofAnnotation(namespace).some(isHere)
    )
  }

  /**
   * Whether the option grants a place only to some of these namespaces. Annotations cannot tell that, because those of other
   * namespaces may be invisible.
   *
   * @param url of {@link placeUrl}
   */
  isReserved(namespaces: readonly string[], url: string): boolean {
    const segments = segmentsOf(url)
    const covering = this.#all.filter(({ place }) => isBelow(segments, place))
    return covering.length > 0 && covering.every(({ name }) => namespaces.includes(name))
  }

  #ofAnnotation(namespace: string): readonly PlacePattern[] {
    const text = this.#options.annotationOf?.(namespace)
    if (text === undefined) return []
    const known = this.#annotated.get(namespace)
    if (known?.text === text) return known.places
    const places: PlacePattern[] = []
    for (const part of partsOf(text).slice(0, maxPlaces)) {
      const place = placePattern(part, this.#options.mountPath)
      if (place === undefined) this.#options.onInvalid?.(namespace, part)
      else places.push(place)
    }
    this.#annotated.set(namespace, { text, places })
    return places
  }
}

export const grantProblems = (text = ''): readonly string[] => parseGrants(text).problems

/** Entries of `NAMESPACE=URL`. A URL without a namespace belongs to the namespace before it. */
export function parseGrants(text: string): {
  readonly grants: readonly { readonly namespace: string; readonly url: string }[]
  readonly problems: readonly string[]
} {
  const grants: { namespace: string; url: string }[] = []
  const problems: string[] = []
  let namespace: string | undefined
  for (const part of partsOf(text)) {
    const [, name, rest] = /^([^=:/]+)=(.*)$/.exec(part) ?? []
    if (name !== undefined) namespace = name
    const url = rest ?? part
    if (namespace === undefined) {
      problems.push(`"${part}" has no namespace: write NAMESPACE=URL, such as team-a=${part}`)
    } else if (placePattern(url, '/') === undefined) {
      problems.push(
        `"${url}" is not a valid location: write s3://BUCKET/PREFIX, azure://ACCOUNT/CONTAINER, gs://BUCKET/PREFIX, file:///FOLDER or *`,
      )
    } else grants.push({ namespace, url })
  }
  return { grants, problems }
}

const partsOf = (text: string): string[] => text.split(/[\s,]+/).filter((part) => part !== '')

/** Undefined if it is not a URL of a place. */
function placePattern(url: string, mountPath: string): PlacePattern | undefined {
  if (url === '*') return everywhere
  const [scheme = '', empty, first, ...rest] = segmentsOf(url)
  if (!schemes.includes(scheme) || empty !== '') return undefined
  const names = [first ?? '', ...rest].filter((name) => name !== '')
  if (names.some((name) => name === '.' || name === '..')) return undefined
  if (scheme === 'file:') {
    if (first !== '') return undefined
    return ['file:', '', '', ...belowMount(names, mountPath)].map(compileWildcard)
  }
  if (first === undefined || first === '') return undefined
  return [scheme, '', ...names].map(compileWildcard)
}

/** An absolute path inside the mounted directory means the same as the path below it. */
function belowMount(names: readonly string[], mountPath: string): readonly string[] {
  const mount = resolve(mountPath).split('/').filter(Boolean)
  return mount.every((name, depth) => names[depth] === name) ? names.slice(mount.length) : names
}

const segmentsOf = (url: string): string[] => url.split('/')

function isBelow(segments: readonly string[], place: PlacePattern): boolean {
  return (
    segments.length >= place.length &&
    place.every((matches, depth) => matches(segments[depth] as string))
  )
}

/** The URL of an object in grants. @param object the name for the driver */
function placeUrl({ storage, configName }: ArchiveLocation, object: string): string {
  const { s3, azureStorage: azure, gcs } = storage
  if (s3) return `s3://${s3.bucket}/${object}`
  if (azure) return `azure://${azure.accountName}/${configName}/${object}`
  return gcs ? `gs://${gcs.bucket}/${object}` : `file:///${object}`
}

/** Whether a text matches a pattern; compiled once. */
type Wildcard = (text: string) => boolean

/** A pattern in which `*` means any text. Matching takes time proportional to text and pattern. */
function compileWildcard(pattern: string): Wildcard {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return (text) => text === pattern
  return (text) => {
    if (text.length < first.length + last.length) return false
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    let position = first.length
    for (const part of rest) {
      const found = text.indexOf(part, position)
      if (found === -1) return false
      position = found + part.length
    }
    return position <= text.length - last.length
  }
}
