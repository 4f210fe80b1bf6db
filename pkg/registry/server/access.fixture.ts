import type { IncomingHttpHeaders } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'
import { stringify } from 'yaml'
import { parseResource } from '../../api/v1alpha1/v1alpha1.ts'
import { createMetrics } from '../../base/telemetry/telemetry.ts'
import { GroupBindings } from '../access/access.ts'
import { Auth, type AuthOptions } from '../auth/auth.ts'
import { Fixture } from './registry.fixture.ts'

/** An API server that knows tokens, and what each may read. */
export class TestCluster {
  /** The requests so far. */
  readonly requests: {
    readonly path: string
    readonly token: string
    readonly headers: IncomingHttpHeaders
  }[] = []
  /** Status for a known token and a path; the others get 401. */
  readonly tokens = new Map<string, (path: string) => number>()
  /** The user of a token, for those who ask who they are. */
  readonly users = new Map<string, string>()
  readonly ca: string
  /** How long each answer takes. */
  delayMs = 0
  readonly #server: Server
  #port = 0

  private constructor(pem: { readonly cert: string; readonly private: string }) {
    this.ca = pem.cert
    this.#server = createServer({ cert: pem.cert, key: pem.private }, (request, response) => {
      const { url = '', headers } = request
      const token = headers.authorization?.replace('Bearer ', '') ?? ''
      this.requests.push({ path: url, token, headers })
      const status = this.tokens.get(token)?.(url) ?? 401
      const message = status === 401 ? 'Unauthorized' : `answer ${status}`
      response.writeHead(status, { 'content-type': 'application/json' })
      // The status of a review, which is created.
      const isSelf = url.endsWith('/selfsubjectreviews')
      const userInfo = isSelf && { username: this.users.get(token) ?? 'somebody' }
      const review = (status === 201 || isSelf) && {
        status: isSelf ? { userInfo } : { allowed: true },
      }
      const body = JSON.stringify({ kind: 'Status', code: status, message, ...review })
      if (this.delayMs === 0) response.end(body)
      else setTimeout(() => response.end(body), this.delayMs)
    })
  }

  static async start(): Promise<TestCluster> {
    const pem = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    })
    const cluster = new TestCluster(pem)
    await cluster.listen()
    return cluster
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`
  }

  /** Listens, on the same port as before. */
  async listen(): Promise<void> {
    await new Promise<void>((done) => {
      this.#server.listen(this.#port, '127.0.0.1', done)
    })
    this.#port = (this.#server.address() as AddressInfo).port
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

/** A kubeconfig as a caller sends it. */
export function asToken(kubeconfig: unknown): string {
  const text = typeof kubeconfig === 'string' ? kubeconfig : stringify(kubeconfig)
  return Buffer.from(text).toString('base64')
}

/** A kubeconfig of one context, with these fields of its user and cluster. */
export function kubeconfigOf(user: object, cluster?: object): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'it',
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'me' } }],
    clusters: cluster === undefined ? [] : [{ name: 'it', cluster }],
    users: [{ name: 'me', user }],
  }
}

/** A registry with GroupBindings, to which callers come in any mode. */
export class AccessFixture extends Fixture {
  readonly bindings = new GroupBindings({
    namespace: 'depot-system',
    log: this.log,
    metrics: this.metrics,
  })

  bind(name: string, spec: object, namespace = 'depot-system'): void {
    const parsed = parseResource('GroupBinding', { metadata: { name, namespace }, spec })
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    this.bindings.apply({ type: 'upsert', resource: parsed.resource })
  }

  unbind(name: string): void {
    this.bindings.apply({ type: 'delete', kind: 'GroupBinding', namespace: 'depot-system', name })
  }

  publicNamespace(name: string): void {
    this.add('Namespace', name, {}, { namespace: '', labels: { 'depot.internal/public': 'true' } })
  }

  auth(options: Pick<AuthOptions, 'mode'> & Partial<AuthOptions>): Auth {
    const { model } = this.catalog
    return new Auth({
      bindings: this.bindings,
      isPublic: (kind, namespace, name) =>
        model.find(model.views.public, kind, namespace, name) !== undefined,
      log: this.log,
      ...options,
      metrics: options.metrics ?? createMetrics({ version: 'test' }),
    })
  }
}
