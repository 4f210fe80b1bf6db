import { resolve } from 'node:path'
import type { ArchiveLocation } from '../../api/v1alpha1/v1alpha1.ts'
import { CappedMap } from '../../base/memory/memory.ts'

/** The places that each namespace may use without proof that it knows their content. */
export interface GrantOptions {
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

/** Lists the problems in the text of grants. */
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
export function placeUrl({ storage, configName }: ArchiveLocation, object: string): string {
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
