/** Forwards requests that the controller answers under the registry's own host name, and streams their bodies. */

import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Context, Hono } from 'hono'
import { normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import { ReverseProxy } from '../../base/proxy/proxy.ts'
import { awaitUpload, note, type ServingEnv, workMs } from '../../base/serving/serving.ts'
import type { Catalog, VersionRow } from '../catalog/catalog.ts'
import { HookBodies } from './hook-bodies.ts'

interface ForwardingOptions {
  /** The controller's address: scheme, host and port. */
  readonly url: string
  /** Keeps `X-Forwarded-*` of a proxy in front, and appends to them. */
  readonly trustProxy: boolean
  readonly baseUrl?: string | undefined
  readonly catalog: Pick<Catalog, 'parentAt'>
  /** Whether callers are identified. Otherwise nobody can publish. */
  readonly hasCallers: boolean
  /** How long a published version may take until this server serves it. Default: 10 s. */
  readonly servedMs?: number
}

export interface ControllerRoutes {
  readonly routes: Hono<ServingEnv>
  close(): Promise<void>
}

const prefix = '/depot/publish/v1'
const lookAgainMs = 20
const hookRoute = '/depot/hooks/:provider/:namespace/:name'
const maxHookBytes = 2 ** 20
const hookMs = 30_000
/** Maximum number of concurrent publications of one caller: a quarter of all. */
const perCaller = 16
/** Maximum number of concurrent webhooks of one path, so that senders to one Depot do not delay others. */
const perHook = 4

/** The controller authenticates callers and limits bodies. */
export function createForwarding(options: ForwardingOptions): ControllerRoutes {
  const { url: to, trustProxy, baseUrl, catalog, hasCallers, servedMs = 10_000 } = options
  const shared = { to, name: 'the controller', trustProxy, baseUrl }
  const proxy = new ReverseProxy({
    ...shared,
    maxRequestBytes: Number.POSITIVE_INFINITY,
    // The controller reads and stores a body before it answers.
    timeoutMs: workMs,
    perClient: perCaller,
  })
  // Anyone can send webhooks, so publishers have connections and timeouts of their own.
  const hooks = new ReverseProxy({
    ...shared,
    maxRequestBytes: maxHookBytes,
    timeoutMs: hookMs,
    perClient: perHook,
  })
  const hookBodies = new HookBodies({ maxBytes: maxHookBytes, maxHeldBytes: maxHookBytes * 32 })

  const routes = new Hono<ServingEnv>()
  const forward = async (c: Context<ServingEnv>): Promise<Response> => {
    if (!hasCallers) {
      throw new RegistryError(
        'Forbidden',
        'nobody publishes here, because this server does not identify callers: start it with OIDC or bearer tokens, or use depot publish --direct',
      )
    }
    awaitUpload(c)
    const client = hash('sha256', c.req.header('authorization') ?? '')
    return proxy.forward(c, { client })
  }
  mountPublishing(routes, forward, { catalog, servedMs })
  routes.post(hookRoute, (c) => {
    const { provider, namespace, name } = c.req.param()
    note(c, { route: hookRoute, namespace })
    const client = `${provider}/${namespace}/${name}`
    return hookBodies.read(c.req.raw, (body) => hooks.forward(c, { client, body }))
  })
  return {
    routes,
    async close() {
      await Promise.all([proxy.close(), hooks.close()])
    },
  }
}

/**
 * Adds the routes that publishers use to store versions. A request that completes a version is answered once this server has
 * read it.
 */
function mountPublishing(
  routes: Hono<ServingEnv>,
  forward: (c: Context<ServingEnv>) => Promise<Response>,
  { catalog, servedMs }: Required<Pick<ForwardingOptions, 'catalog' | 'servedMs'>>,
): void {
  const moduleRoute = `${prefix}/modules/:namespace/:name/:system/:version` as const
  routes.put(moduleRoute, async (c) => {
    const { namespace, name, system, version } = c.req.param()
    note(c, { route: moduleRoute, namespace, kind: 'Module', name, version })
    const rowsOf = () =>
      catalog.parentAt('Module', namespace, name, system)?.rowsOf(normalizeVersion(version)) ?? []
    return served(c, await forward(c), rowsOf, servedMs)
  })
  const releaseRoute = `${prefix}/providers/:namespace/:type/:version` as const
  const finishRoute = `${releaseRoute}/finish` as const
  routes.post(finishRoute, async (c) => {
    const { namespace, type, version } = c.req.param()
    note(c, { route: finishRoute, namespace, kind: 'Provider', name: type, version })
    const rowsOf = () =>
      catalog.parentAt('Provider', namespace, type)?.rowsOf(normalizeVersion(version)) ?? []
    return served(c, await forward(c), rowsOf, servedMs)
  })
  const fileRoute = `${releaseRoute}/:file` as const
  routes.put(fileRoute, (c) => {
    const { namespace, type, version } = c.req.param()
    note(c, { route: fileRoute, namespace, kind: 'Provider', name: type, version })
    return forward(c)
  })
}

/** Forwards an answer as soon as this server has read the version, or after `servedMs`. */
async function served(
  c: Context<ServingEnv>,
  answer: Response,
  rowsOf: () => readonly VersionRow[],
  servedMs: number,
): Promise<Response> {
  if (!answer.ok) return answer
  const body = (await answer.json()) as AnsweredVersion
  const waits = c.req.query('wait') !== 'false'
  const untilMs = performance.now() + (waits ? servedMs : 0)
  for (;;) {
    const rows = rowsOf()
    const archives = (body.archives ?? [{}]).map(({ os, arch }) =>
      rows.filter((row) => os === undefined || (row.os === os && row.arch === arch)),
    )
    if (archives.every((found) => found.some(isServed))) {
      return json(answer.status, body)
    }
    // The version is stored, and not served for a reason that the publisher has to know, such as a policy.
    const held = archives.find((found) => found.length > 0 && !found.some(mayBeServed))?.[0]
    if (held !== undefined) return json(202, { ...body, unserved: held.unserved })
    if (performance.now() >= untilMs) return json(202, body)
    await sleep(lookAgainMs)
  }
}

/** The part of the controller's answer that says which archives the version has. */
interface AnsweredVersion {
  readonly archives?: readonly { readonly os?: string; readonly arch?: string }[]
}

const isServed = ({ downloadable }: VersionRow): boolean => downloadable

/** Watches deliver the platforms of a release one by one. */
const mayBeServed = ({ downloadable, unserved }: VersionRow): boolean =>
  downloadable || unserved?.reason === 'ReleaseIncomplete'

const json = (status: number, body: object): Response =>
  Response.json(body, { status, headers: { 'Cache-Control': 'no-store' } })
