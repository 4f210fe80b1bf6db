/** Requests that the controller answers: passes them on under the registry's own host name, and streams bodies. */

import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import { ReverseProxy } from '../../base/proxy/proxy.ts'
import { awaitUpload, note, type ServingEnv } from '../../base/serving/serving.ts'
import type { Catalog, VersionRow } from '../catalog/catalog.ts'

interface ForwardingOptions {
  /** The controller's address: scheme, host and port. */
  readonly url: string
  /** Keeps `X-Forwarded-*` of a proxy in front, and appends to them. */
  readonly trustProxy: boolean
  readonly baseUrl?: string | undefined
  readonly catalog: Pick<Catalog, 'parentAt'>
  /** Whether callers are identified. Nobody publishes otherwise. */
  readonly hasCallers: boolean
  /** How long a published version may take until this server serves it. Default: 10 s. */
  readonly servedMs?: number
}

export interface ControllerRoutes {
  readonly routes: Hono<ServingEnv>
  close(): Promise<void>
}

const prefix = '/depot/publish/v1'
/** The controller reads a body before it answers, and stores it. */
const answerMs = 300_000
const lookAgainMs = 20
const hookRoute = '/depot/hooks/:provider/:namespace/:name'
const maxHookBytes = 2 ** 20
const hookMs = 30_000
/** Publications of one caller at a time: a quarter of all. */
const perCaller = 16

/** The controller authenticates callers and limits bodies. */
export function createForwarding(options: ForwardingOptions): ControllerRoutes {
  const { url: to, trustProxy, baseUrl, catalog, hasCallers, servedMs = 10_000 } = options
  const shared = { to, name: 'the controller', trustProxy, baseUrl }
  const proxy = new ReverseProxy({
    ...shared,
    maxRequestBytes: Number.POSITIVE_INFINITY,
    timeoutMs: answerMs,
    perClient: perCaller,
  })
  // Strangers send webhooks, so they get neither the connections nor the time of those who publish.
  const hooks = new ReverseProxy({ ...shared, maxRequestBytes: maxHookBytes, timeoutMs: hookMs })

  const rowsOf = (namespace: string, name: string, system: string, version: string) =>
    catalog.parentAt('Module', namespace, name, system)?.rowsOf(normalizeVersion(version)) ?? []

  const route = `${prefix}/modules/:namespace/:name/:system/:version` as const
  const routes = new Hono<ServingEnv>().put(route, async (c) => {
    const { namespace, name, system, version } = c.req.param()
    note(c, { route, namespace, kind: 'Module', name, version })
    if (!hasCallers) {
      throw new RegistryError(
        'Forbidden',
        'nobody publishes here, because this server does not identify callers: start it with OIDC or bearer tokens, or use depot publish --direct',
      )
    }
    awaitUpload(c)
    const answer = await proxy.forward(c, {
      client: hash('sha256', c.req.header('authorization') ?? ''),
    })
    if (!answer.ok) return answer
    const untilMs = performance.now() + servedMs
    for (;;) {
      const rows = rowsOf(namespace, name, system, version)
      const [row] = rows
      if (rows.some(({ downloadable }) => downloadable)) return answer
      if (row !== undefined) return await notServed(answer, row.unserved)
      if (performance.now() > untilMs) return withStatus(answer, 202)
      await sleep(lookAgainMs)
    }
  })
  routes.post(hookRoute, (c) => {
    note(c, { route: hookRoute, namespace: c.req.param('namespace') })
    return hooks.forward(c)
  })
  return {
    routes,
    async close() {
      await Promise.all([proxy.close(), hooks.close()])
    },
  }
}

/** Stored, and not served for a reason that the publisher has to know, such as a policy. */
async function notServed(answer: Response, unserved: VersionRow['unserved']): Promise<Response> {
  const body = Object.assign({ unserved }, await answer.json())
  return Response.json(body, { status: 202, headers: { 'Cache-Control': 'no-store' } })
}

/** Stored, and not read yet. */
const withStatus = ({ body, headers }: Response, status: number): Response =>
  new Response(body, { status, headers })
