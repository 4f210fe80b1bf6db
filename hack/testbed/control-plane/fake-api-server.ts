import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Certificate } from './certificates.ts'
import { bookmarkLine, eventLine, sendStatus, sendTooLarge } from './fake-answers.ts'

/** An object as the fake API server keeps it. */
export interface FakeObject {
  readonly apiVersion?: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly resourceVersion?: string
    readonly [field: string]: unknown
  }
  readonly [field: string]: unknown
}

export interface FakeRequest {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly authorization: string
  readonly accept: string
  readonly receivedMs: number
}

/** Misbehaviour: takes one request over, or leaves it to the next fault or the server by returning false. */
export type Fault = (request: FakeRequest, response: ServerResponse) => boolean

/** True for a list that is compared with what a client has. */
function isComparison({ query }: FakeRequest): boolean {
  return query['resourceVersionMatch'] === 'Exact'
}

/** A fault of the next list or watch of one resource. */
export function faultAt(
  path: string,
  misbehave: (response: ServerResponse, request: FakeRequest) => void,
): Fault {
  return (request, response) => {
    if (request.path !== path || isComparison(request)) return false
    misbehave(response, request)
    return true
  }
}

interface Stored extends FakeObject {
  readonly metadata: FakeObject['metadata'] & { readonly resourceVersion: string }
}
interface Change {
  readonly path: string
  readonly revision: number
  readonly type: string
  readonly object: Stored
}
interface Watcher {
  readonly path: string
  readonly selects: (object: FakeObject) => boolean
  readonly response: ServerResponse
}

/**
 * Lists, pages, watches and streams lists as a Kubernetes API server does, over real TLS, and misbehaves when asked to. Every
 * resource that is asked for exists, unless `missing` names its path.
 */
export class FakeApiServer {
  readonly requests: FakeRequest[] = []
  /** Each takes one request over, then is gone. */
  readonly faults: Fault[] = []
  /** Paths of resources that are not defined. */
  readonly missing = new Set<string>()
  /** Says which Authorization headers it accepts; the others get 401. */
  accepts: (authorization: string) => boolean = () => true
  /** False: an older server, which refuses to stream a list. */
  streamsLists = true
  /** Whether watches end when the client asked for it. */
  endsInTime = false
  readonly #certificate: Certificate
  readonly #collections = new Map<string, Map<string, Stored>>()
  /** Events that watches can still get. */
  #history: Change[] = []
  /** All writes. */
  #writes: Change[] = []
  readonly #watchers = new Set<Watcher>()
  readonly #sockets = new Set<Socket>()
  #server: ReturnType<typeof createServer> | undefined
  #port = 0
  #revision = 1000
  #compacted = 0

  constructor(certificate: Certificate) {
    this.#certificate = certificate
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`
  }

  get openConnections(): number {
    return this.#sockets.size
  }

  /** Resource version of the last change. */
  get resourceVersion(): string {
    return String(this.#revision)
  }

  /** Starts to listen; after a stop, on the same port as before. */
  async start(certificate: Certificate = this.#certificate): Promise<void> {
    const { cert, key } = certificate
    const server = createServer({ cert, key, ALPNProtocols: ['http/1.1'] }, (request, response) =>
      this.#handle(request, response),
    )
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** Stops listening and cuts every connection. */
  async stop(): Promise<void> {
    const closed = this.#server && new Promise((done) => this.#server?.close(done))
    this.#server = undefined
    this.cut()
    await closed
  }

  /** Cuts every connection in the middle of whatever it carries. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Ends every watch as a server does after its timeout. */
  endWatches(): void {
    for (const { response } of this.#watchers) response.end()
  }

  /** Creates or replaces. */
  put(path: string, object: FakeObject): void {
    const collection = this.#collection(path)
    const type = collection.has(keyOf(object)) ? 'MODIFIED' : 'ADDED'
    this.#publish(this.#write(path, type, object))
  }

  delete(path: string, name: string, namespace = ''): void {
    const collection = this.#collection(path)
    const object = collection.get(`${namespace}/${name}`)
    if (object !== undefined) this.#publish(this.#write(path, 'DELETED', object))
  }

  /** Changes the store without an event, as if it had been lost. */
  putSilently(path: string, object: FakeObject): void {
    this.#write(path, 'MODIFIED', object)
  }

  /** Deletes without an event, as if it had been lost. */
  deleteSilently(path: string, name: string, namespace = ''): void {
    const object = this.#collection(path).get(`${namespace}/${name}`)
    if (object !== undefined) this.#write(path, 'DELETED', object)
  }

  /** Forgets history: a watch from an older resourceVersion expires. */
  compact(): void {
    this.#history = []
    this.#compacted = this.#revision
  }

  /** Returns to an older revision, as an etcd that was restored from a backup. */
  restoreRevision(revision: number): void {
    this.#revision = revision
    const isKept = (change: Change) => change.revision <= revision
    this.#history = this.#history.filter(isKept)
    this.#writes = this.#writes.filter(isKept)
    this.#compacted = 0
    for (const path of this.#collections.keys()) this.#collections.set(path, this.#at(path))
  }

  /** Adds to the revision, as writes of resources that nobody watches do. */
  passRevisions(count: number): void {
    this.#revision += count
  }

  bookmark(path: string, resourceVersion = this.resourceVersion): void {
    this.send(path, bookmarkLine(resourceVersion, false))
  }

  /** Writes bytes to every watch of a resource as they are. */
  send(path: string, bytes: string | Buffer): void {
    for (const watcher of this.#watchers) if (watcher.path === path) watcher.response.write(bytes)
  }

  /** The objects as they are now. */
  objectsOf(path: string): readonly FakeObject[] {
    return this.#objects(path)
  }

  watchesOf(path: string): number {
    return [...this.#watchers].filter((watcher) => watcher.path === path).length
  }

  /** The number of lists and watches of all resources. */
  get requestCount(): number {
    return this.requests.filter((request) => !isComparison(request)).length
  }

  /** Lists and watches of a resource, without comparisons. */
  requestsFor(path: string): FakeRequest[] {
    return this.requests.filter((request) => request.path === path && !isComparison(request))
  }

  /** Lists of a resource that are compared with what the client has. */
  comparisonsOf(path: string): FakeRequest[] {
    return this.requests.filter((request) => request.path === path && isComparison(request))
  }

  #collection(path: string): Map<string, Stored> {
    const found = this.#collections.get(path) ?? new Map<string, Stored>()
    this.#collections.set(path, found)
    return found
  }

  /** The objects of a path, which may name one namespace. @param revision a past one */
  #objects(path: string, revision = this.#revision): Stored[] {
    const [, root, name, resource] = /^(.*)\/namespaces\/([^/]+)\/([^/]+)$/.exec(path) ?? []
    const at = (whole: string) =>
      revision < this.#revision ? this.#at(whole, revision) : this.#collection(whole)
    if (this.#collections.has(path) || name === undefined) return [...at(path).values()]
    const all = [...at(`${root}/${resource}`).values()]
    return all.filter(({ metadata }) => metadata.namespace === name)
  }

  /** The objects of a path as they were at a revision. */
  #at(path: string, revision = this.#revision): Map<string, Stored> {
    const objects = new Map<string, Stored>()
    for (const change of this.#writes) {
      if (change.path !== path || change.revision > revision) continue
      if (change.type === 'DELETED') objects.delete(keyOf(change.object))
      else objects.set(keyOf(change.object), change.object)
    }
    return objects
  }

  #write(path: string, type: string, object: FakeObject): Change {
    this.#revision += 1
    const { resourceVersion } = this
    const { uid = object.metadata.name } = object.metadata
    const stored = { ...object, metadata: { ...object.metadata, uid, resourceVersion } }
    if (type === 'DELETED') this.#collection(path).delete(keyOf(stored))
    else this.#collection(path).set(keyOf(stored), stored)
    const change = { path, revision: this.#revision, type, object: stored }
    this.#writes.push(change)
    return change
  }

  #publish(change: Change): void {
    this.#history.push(change)
    const line = eventLine(change.type, change.object)
    for (const { path, selects, response } of this.#watchers) {
      if (path === change.path && selects(change.object)) response.write(line)
    }
  }

  #handle(incoming: IncomingMessage, response: ServerResponse): void {
    const url = new URL(incoming.url ?? '/', this.url)
    const request: FakeRequest = {
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      authorization: incoming.headers.authorization ?? '',
      accept: incoming.headers.accept ?? '',
      receivedMs: performance.now(),
    }
    this.requests.push(request)
    response.on('error', () => {})
    const fault = this.faults.findIndex((it) => it(request, response))
    if (fault >= 0) {
      this.faults.splice(fault, 1)
      return
    }
    if (!this.accepts(request.authorization)) {
      sendStatus(response, 401, { reason: 'Unauthorized', message: 'Unauthorized' })
    } else if (this.missing.has(request.path)) sendStatus(response, 404, { reason: 'NotFound' })
    else if (request.query['watch'] !== undefined) void this.#watch(request, response)
    else this.#list(request, response)
  }

  #list({ path, query }: FakeRequest, response: ServerResponse): void {
    const [, from = '0', revision = query['resourceVersion'] ?? this.resourceVersion] =
      /^(\d+)@(\d+)$/.exec(query['continue'] ?? '') ?? []
    if (Number(revision) > this.#revision) {
      sendTooLarge(response)
      return
    }
    const all = this.#objects(path, Number(revision)).filter(selector(query))
    const limit = Number(query['limit'] ?? all.length)
    const end = Number(from) + limit
    if (Number(revision) < this.#compacted) {
      sendStatus(response, 410, {
        reason: 'Expired',
        message: 'The provided continue parameter is too old',
      })
      return
    }
    const next = end < all.length ? { continue: `${end}@${revision}` } : {}
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        kind: 'List',
        metadata: { resourceVersion: revision, ...next },
        items: all.slice(Number(from), end),
      }),
    )
  }

  async #watch(request: FakeRequest, response: ServerResponse): Promise<void> {
    const { path, query } = request
    const streamed = query['sendInitialEvents'] === 'true'
    if (streamed && !this.streamsLists) {
      const message =
        'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'
      sendStatus(response, 422, { reason: 'Invalid', message })
      return
    }
    if (!streamed && Number(query['resourceVersion']) > this.#revision) {
      sendTooLarge(response)
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    if (!streamed && Number(query['resourceVersion']) < this.#compacted) {
      response.write(
        eventLine('ERROR', {
          kind: 'Status',
          code: 410,
          reason: 'Expired',
          message: 'too old resource version',
        }),
      )
      response.end()
      return
    }
    const changes = streamed
      ? this.#objects(path)
          .filter(selector(query))
          .map((object) => ({ type: 'ADDED', object }))
      : this.#history.filter(
          (it) => it.path === path && it.revision > Number(query['resourceVersion']),
        )
    const end = this.resourceVersion
    const watcher = { path, response, selects: selector(query) }
    // From now on it gets changes, after the events that are written below.
    this.#watchers.add(watcher)
    response.once('close', () => this.#watchers.delete(watcher))
    for (const { type, object } of changes) response.write(eventLine(type, object))
    if (streamed) response.write(bookmarkLine(end, true))
    if (this.endsInTime) setTimeout(() => response.end(), Number(query['timeoutSeconds']) * 1000)
  }
}

/** Supports two selectors: a label that exists, and the name. */
function selector(query: FakeRequest['query']): (object: FakeObject) => boolean {
  const { labelSelector, fieldSelector } = query
  const name = fieldSelector?.replace('metadata.name=', '')
  return ({ metadata }) => {
    const labels = (metadata['labels'] ?? {}) as Record<string, string>
    const labelled = labelSelector === undefined || labelSelector in labels
    return labelled && (name === undefined || metadata.name === name)
  }
}

function keyOf({ metadata: { namespace = '', name } }: FakeObject): string {
  return `${namespace}/${name}`
}
