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
  readonly receivedMs: number
}

/** Misbehaviour: takes one request over, or leaves it to the next fault or the server by returning false. */
export type Fault = (request: FakeRequest, response: ServerResponse) => boolean

/** True for a request that only asks for the newest resourceVersion. */
function isProbe({ query }: FakeRequest): boolean {
  return query['limit'] === '1' && query['continue'] === undefined
}

/** A fault of the next list or watch of one resource. */
export function faultAt(
  path: string,
  misbehave: (response: ServerResponse, request: FakeRequest) => void,
): Fault {
  return (request, response) => {
    if (request.path !== path || isProbe(request)) return false
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
  readonly #certificate: Certificate
  readonly #collections = new Map<string, Map<string, Stored>>()
  readonly #history: Change[] = []
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
    const stored = this.#stamped(object)
    collection.set(keyOf(object), stored)
    this.#publish({ path, revision: this.#revision, type, object: stored })
  }

  delete(path: string, name: string, namespace = ''): void {
    const collection = this.#collection(path)
    const object = collection.get(`${namespace}/${name}`)
    if (object === undefined) return
    collection.delete(keyOf(object))
    const stored = this.#stamped(object)
    this.#publish({ path, revision: this.#revision, type: 'DELETED', object: stored })
  }

  /** Changes the store without an event, as if it had been lost. */
  putSilently(path: string, object: FakeObject): void {
    this.#collection(path).set(keyOf(object), this.#stamped(object))
  }

  /** Forgets history: a watch from an older resourceVersion expires. */
  compact(): void {
    this.#history.length = 0
    this.#compacted = this.#revision
  }

  /** Returns to an older revision, as an etcd that was restored from a backup. */
  restoreRevision(revision: number): void {
    this.#revision = revision
    this.#history.length = 0
    this.#compacted = 0
  }

  bookmark(path: string, resourceVersion = this.resourceVersion): void {
    this.send(path, bookmarkLine(resourceVersion, false))
  }

  /** Writes bytes to every watch of a resource as they are. */
  send(path: string, bytes: string | Buffer): void {
    for (const watcher of this.#watchers) if (watcher.path === path) watcher.response.write(bytes)
  }

  watchesOf(path: string): number {
    return [...this.#watchers].filter((watcher) => watcher.path === path).length
  }

  /** The number of lists and watches of all resources. */
  get requestCount(): number {
    return this.requests.filter((request) => !isProbe(request)).length
  }

  /** Lists and watches of a resource. */
  requestsFor(path: string): FakeRequest[] {
    return this.requests.filter((request) => request.path === path && !isProbe(request))
  }

  /** Lists with one item, which ask for the newest resourceVersion. */
  probesOf(path: string): FakeRequest[] {
    return this.requests.filter((request) => request.path === path && isProbe(request))
  }

  #collection(path: string): Map<string, Stored> {
    const found = this.#collections.get(path) ?? new Map<string, Stored>()
    this.#collections.set(path, found)
    return found
  }

  /** The objects of a path, which may name one namespace. */
  #objects(path: string): Stored[] {
    const [, root, name, resource] = /^(.*)\/namespaces\/([^/]+)\/([^/]+)$/.exec(path) ?? []
    const own = this.#collections.get(path)
    if (own !== undefined || name === undefined) return [...(own?.values() ?? [])]
    const all = [...this.#collection(`${root}/${resource}`).values()]
    return all.filter(({ metadata }) => metadata.namespace === name)
  }

  #stamped(object: FakeObject): Stored {
    this.#revision += 1
    return { ...object, metadata: { ...object.metadata, resourceVersion: this.resourceVersion } }
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
    const all = this.#objects(path).filter(selector(query))
    const [, from = '0', revision = this.resourceVersion] =
      /^(\d+)@(\d+)$/.exec(query['continue'] ?? '') ?? []
    const limit = Number(query['limit'] ?? all.length)
    const end = Number(from) + limit
    if (query['continue'] !== undefined && Number(revision) < this.#compacted) {
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
