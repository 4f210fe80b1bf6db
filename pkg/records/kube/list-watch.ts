import { isRecord, type JsonReader } from '../../api/v1alpha1/v1alpha1.ts'
import { type Random, Turns } from '../../base/pacing/pacing.ts'
import { Outcome, outcomeOfStatus, undecodable } from './outcome.ts'
import { type AnyKind, pathOf, placeOf } from './paths.ts'
import type { Timings } from './timings.ts'
import type { Transport } from './transport.ts'

const firstLimit = 250
/** Metadata of an object takes about a kilobyte. */
const metadataLimit = 1_000
/** Size of a page that is parsed without blocking for long. Larger pages are requested in parts. */
const goodPageBytes = 2 * 1024 * 1024
const maxPageBytes = 64 * 1024 * 1024
const metadataOnly = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

export interface ListOptions {
  readonly transport: Transport
  readonly target: ListTarget
  readonly timings: Timings
  readonly signal: AbortSignal
  readonly json: JsonReader
  /** Bytes have arrived. */
  readonly onContact: () => void
  readonly onItem: (object: ObservedObject) => void
  /** Lists only metadata of objects, as of this resourceVersion. Default: whole objects, as of now. */
  readonly asOf?: string
}

/**
 * Lists everything, page by page, as of one moment. It sends no resourceVersion: with one, an API server answers from its
 * cache and ignores the limit.
 *
 * @returns the resourceVersion to watch from
 */
export async function list(options: ListOptions): Promise<{ resourceVersion: string } | Outcome> {
  const turns = new Turns()
  let limit = options.asOf === undefined ? firstLimit : metadataLimit
  let next = ''
  for (;;) {
    const page = await readPage(options, limit, next)
    if (page instanceof Outcome) return page
    if (page === 'large') {
      limit = Math.max(1, Math.floor(limit / 5))
      continue
    }
    for (const raw of page.items) {
      const object = observe(raw)
      if (object === undefined) {
        return undecodable('NoMetadata')
      }
      options.onItem(object)
      if (turns.due) await turns.yield()
    }
    if (page.next === '') return { resourceVersion: page.resourceVersion }
    next = page.next
    await turns.yield()
  }
}

interface Page {
  readonly items: readonly unknown[]
  readonly resourceVersion: string
  /** Token of the next page; empty if there is none. */
  readonly next: string
}

async function readPage(
  { transport, target, timings, signal, json, onContact, asOf }: ListOptions,
  limit: number,
  next: string,
): Promise<Page | 'large' | Outcome> {
  const exactly = asOf !== undefined && { resourceVersion: asOf, resourceVersionMatch: 'Exact' }
  const path = requestPath(target, { limit, ...(next === '' ? exactly : { continue: next }) })
  const { pageMs: deadlineMs, headersMs: idleMs } = timings
  const accept = asOf === undefined ? undefined : metadataOnly
  return transport.read({ path, accept, signal, deadlineMs, idleMs }, async (body) => {
    const maxBytes = limit > 1 ? goodPageBytes : maxPageBytes
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of body) {
      onContact()
      bytes += chunk.length
      if (bytes > maxBytes) {
        return limit > 1 ? 'large' : undecodable('ObjectTooLarge')
      }
      chunks.push(chunk)
    }
    return parsePage(json, Buffer.concat(chunks).toString())
  })
}

function parsePage(json: JsonReader, text: string): Page | Outcome {
  let raw: unknown
  try {
    raw = json.parse(text)
  } catch (err) {
    return undecodable('NotJson', err)
  }
  const { resourceVersion, continue: next } = metadataOf(raw) ?? {}
  // Go writes an empty list of typed objects as null.
  const items = isRecord(raw) ? (raw['items'] ?? []) : undefined
  if (!Array.isArray(items) || !isText(resourceVersion)) {
    return undecodable('NoItems')
  }
  return { items, resourceVersion, next: isText(next) ? next : '' }
}

/** etcd refuses objects of more than a few megabytes. */
const maxLineBytes = 64 * 1024 * 1024

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ObservedObject }
  | {
      readonly type: 'BOOKMARK'
      readonly resourceVersion: string
      /** Whether the bookmark ends the initial events of a streamed list. */
      readonly initialEventsEnd: boolean
    }

interface WatchOptions {
  readonly transport: Transport
  readonly target: ListTarget
  readonly timings: Timings
  readonly random: Random
  readonly signal: AbortSignal
  readonly json: JsonReader
  /** Start of the watch; undefined to get all objects first, as ADDED events. */
  readonly resourceVersion: string | undefined
  /** Bytes have arrived. */
  readonly onContact: () => void
  /** @returns an Outcome to stop here */
  readonly onEvent: (event: WatchEvent) => Outcome | undefined | Promise<Outcome | undefined>
}

/** One watch request, until its end. */
export async function watch(options: WatchOptions): Promise<Outcome> {
  const { transport, target, timings, random, signal, resourceVersion } = options
  const timeoutSeconds = Math.ceil(timings.watchMinSeconds * (1 + random()))
  const from =
    resourceVersion === undefined
      ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
      : { resourceVersion }
  const path = requestPath(target, {
    watch: 1,
    allowWatchBookmarks: 'true',
    timeoutSeconds,
    ...from,
  })
  const deadlineMs = timeoutSeconds * 1000 + timings.watchGraceMs
  return transport.read({ path, signal, deadlineMs, idleMs: timings.idleMs }, async (body) => {
    const openedMs = performance.now()
    const outcome = await consume(body, options)
    if (outcome !== undefined) return outcome
    const openMs = performance.now() - openedMs
    const isDue = openMs >= timeoutSeconds * 900 && openMs <= deadlineMs
    return isDue
      ? new Outcome('StreamClosed', 'the API server closed the watch')
      : new Outcome('StreamTooShort', 'the watch was closed before its time')
  })
}

/** @returns the cause of the end; undefined if the server closed the stream */
async function consume(
  body: AsyncIterable<Buffer>,
  { json, onContact, onEvent }: WatchOptions,
): Promise<Outcome | undefined> {
  const splitter = new LineSplitter()
  const turns = new Turns()
  for await (const chunk of body) {
    onContact()
    for (const line of splitter.push(chunk)) {
      const event = decode(json, line)
      const answer = event instanceof Outcome ? event : onEvent(event)
      const outcome = answer instanceof Promise ? await answer : answer
      if (outcome !== undefined) return outcome
      if (turns.due) await turns.yield()
    }
    if (splitter.pendingBytes > maxLineBytes) {
      return undecodable('ObjectTooLarge')
    }
  }
  if (splitter.pendingBytes > 0) return undecodable('Truncated')
  return undefined
}

function decode(json: JsonReader, line: string): WatchEvent | Outcome {
  let raw: unknown
  try {
    raw = json.parse(line)
  } catch (err) {
    return undecodable('NotJson', err)
  }
  if (!isRecord(raw)) return undecodable('NotAnEvent')
  const { type, object } = raw
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      const observed = observe(object)
      if (observed !== undefined) return { type, object: observed }
      return undecodable('NoMetadata')
    }
    case 'BOOKMARK': {
      const { resourceVersion, annotations } = metadataOf(object) ?? {}
      if (!isText(resourceVersion)) {
        return undecodable('NoMetadata')
      }
      const end = isRecord(annotations) && annotations['k8s.io/initial-events-end'] === 'true'
      return { type, resourceVersion, initialEventsEnd: end }
    }
    case 'ERROR':
      return outcomeOfStatus(object)
    default:
      return undecodable('UnknownEventType', new Error(String(type).slice(0, 40)))
  }
}

const newline = 10

/**
 * Splits a stream of bytes into lines. Only whole lines become text, so a character that is split over two chunks stays
 * intact.
 */
class LineSplitter {
  #parts: Buffer[] = []
  #bytes = 0

  /** Bytes of the incomplete line. */
  get pendingBytes(): number {
    return this.#bytes
  }

  /** The lines that a chunk completes, without empty ones. */
  *push(chunk: Buffer): Generator<string> {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = this.#complete(chunk.subarray(start, end))
      if (line !== '') yield line
      start = end + 1
    }
    if (start === chunk.length) return
    this.#parts.push(chunk.subarray(start))
    this.#bytes += chunk.length - start
  }

  #complete(last: Buffer): string {
    if (this.#parts.length === 0) return last.toString()
    const line = Buffer.concat([...this.#parts, last]).toString()
    this.#parts = []
    this.#bytes = 0
    return line
  }
}

/** A parsed object, with the fields that every Kubernetes object has. */
export interface ObservedObject {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly resourceVersion: string
    readonly uid?: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly labels?: Readonly<Record<string, string>>
    readonly ownerReferences?: unknown
  }
}

/** Returns undefined for anything except an object with a name and a resourceVersion. */
export function observe(raw: unknown): ObservedObject | undefined {
  const { name, resourceVersion } = metadataOf(raw) ?? {}
  const complete = isText(name) && isText(resourceVersion)
  return complete ? (raw as ObservedObject) : undefined
}

function metadataOf(raw: unknown): Readonly<Record<string, unknown>> | undefined {
  const metadata = isRecord(raw) ? raw['metadata'] : undefined
  return isRecord(metadata) ? metadata : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/**
 * Whether both are numbers, as in every Kubernetes API server, and the first one is lower. They have up to 20 digits, too
 * many for a number of JavaScript.
 */
export function isOlder(resourceVersion: string, than: string): boolean {
  if (!/^\d+$/.test(resourceVersion) || !/^\d+$/.test(than)) return false
  if (resourceVersion.length !== than.length) return resourceVersion.length < than.length
  return resourceVersion < than
}

/** A resource that a reflector reads, in all namespaces or one. */
export interface ListTarget {
  /** Name in metrics and log lines. */
  readonly kind: string
  /** As in kubectl: `modules.depot.internal`. */
  readonly resource: string
  readonly namespace?: string | undefined
  readonly path: string
  /** Selectors. */
  readonly query?: Readonly<Record<string, string>>
  /** Whether a cluster may lack the definition of the resource. Then it counts as empty. */
  readonly optional?: boolean
}

/** The objects of a cluster to read. */
export interface Scope {
  /** The only namespace to read, for which a Role is enough. Default: all. */
  readonly watchNamespace?: string | undefined
  /** The only namespace whose GroupBindings count. */
  readonly bindingsNamespace: string
}

/** GroupBindings count in one namespace only, because whoever may write there decides who sees what. */
export function targetOf(
  kind: AnyKind,
  apiGroup: string,
  { watchNamespace, bindingsNamespace }: Partial<Scope>,
): ListTarget {
  const { plural, version } = placeOf(kind, apiGroup)
  const resource = version === 'v1' ? plural : `${plural}.${apiGroup}`
  const optional = kind === 'Depot' || kind === 'GroupBinding'
  if (kind === 'Namespace') {
    const query = { fieldSelector: `metadata.name=${watchNamespace}` }
    return { kind, resource, path: pathOf({ kind }, apiGroup), ...(watchNamespace && { query }) }
  }
  const namespace = kind === 'GroupBinding' ? bindingsNamespace : watchNamespace
  return { kind, resource, namespace, path: pathOf({ kind, namespace }, apiGroup), optional }
}

/** Path and query of a request. */
function requestPath(
  { path, query }: ListTarget,
  parameters: Readonly<Record<string, string | number>>,
): string {
  const all = { ...query, ...parameters }
  const text = Object.entries(all).map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
  return `${path}?${text.join('&')}`
}
