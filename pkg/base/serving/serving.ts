/**
 * HTTP serving for any process: a listener with access log, request metrics and request ids, TLS that reloads its files,
 * probes and metrics on a separate port, and a shutdown that drops no request.
 */

import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import type { Context } from 'hono'
import { settleShapes } from '../fast/fast.ts'
import type { Logger, Metrics } from '../telemetry/telemetry.ts'
import { createAdminApp } from './admin.ts'
import { connectionsOf, drain } from './drain.ts'
import type { Fetch, ServingEnv } from './env.ts'
import { createListener, type Hot } from './listener.ts'
import { refuseMalformed } from './malformed.ts'
import type { OnRequest } from './request-reports.ts'
import { type Pair, readTlsFiles, reloadTls, type TlsFiles } from './tls.ts'

/**
 * Loaded before the first request: the adapter then replaces the global `Response`, and one that is made of its own class is
 * sent a second time.
 */
export { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
export type { Fetch, ServingEnv } from './env.ts'
export { answerErrors, errorResponse } from './error-response.ts'
export { acceptsGzip, GzipAnswers } from './gzip.ts'
export type { Hot, PlainRequest } from './listener.ts'
export { ReadyAnswer } from './ready-answer.ts'
export { requestText } from './request-body.ts'
export { type LoggedRequest, type OnRequest, pathOf } from './request-reports.ts'
export * from './routes.ts'
export { readTlsFiles } from './tls.ts'

interface Address {
  /** Undefined: all addresses. */
  readonly host: string | undefined
  /** 0: a free one. */
  readonly port: number
}

export interface ServeOptions {
  /** Answers the requests of the public port. */
  readonly fetch: Fetch
  /** Finds ready answers, which are sent without `fetch`. Default: none. */
  readonly hot?: Hot | undefined
  readonly listen: Address
  readonly adminListen: Address
  readonly tls?: TlsFiles | undefined
  /** How often the certificate files are checked, in milliseconds. Default 2000. */
  readonly tlsReloadMs?: number
  readonly log: Logger
  readonly metrics: Metrics
  /** Called with every request when it is over, in addition to the access log. */
  readonly onRequest?: OnRequest | undefined
  /** Maximum pause of a connection with a running request, in milliseconds. Default: 120000. */
  readonly idleMs?: number
  /** Maximum time in which a request arrives with its body unless it is an upload, in milliseconds. Default: 30000. */
  readonly requestMs?: number
  /** Maximum wait of a connection for its next request, in milliseconds. Default: 65000. */
  readonly keepAliveMs?: number
  /**
   * Time in which a stopping process still accepts requests although its probes fail, because load balancers need a while
   * to notice. Default: 0.
   */
  readonly shutdownDelayMs?: number
  /** Conditions that the process still waits for, in words; empty once it is ready. */
  readonly waitingFor: () => readonly string[]
  /** Problems of a process that is ready, in words. Default: none. */
  readonly impaired?: (() => readonly string[]) | undefined
}

export interface RunningServer {
  /** `http://127.0.0.1:8080`, with the actual port. */
  readonly url: string
  readonly adminUrl: string
  /** Drops no request; those that still run after the grace period are aborted. */
  stop(graceMs: number): Promise<void>
}

/** Maximum time in which an upload arrives, in milliseconds. */
const uploadMs = 1_800_000

/** Deadlines of the public port; archives may take as long as bytes flow. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: uploadMs,
  maxHeaderSize: 64 * 1024,
  connectionsCheckingInterval: 5_000,
  // The app itself answers requests without a Host header.
  requireHostHeader: false,
  // Most requests have no body; this avoids a stream for them.
  optimizeEmptyRequests: true,
}

/**
 * Opens both ports.
 *
 * @throws Error with a `code` such as EADDRINUSE if a port cannot be opened.
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { log, metrics, tls } = options
  settleShapes(tls !== undefined)
  let stopping = false
  const draining = { isOn: false }
  const waitingFor = () => (stopping ? ['the server is stopping'] : options.waitingFor())

  const { keepAliveMs = 65_000, idleMs = 120_000, requestMs = 30_000 } = options
  const refuse = refuseMalformed(log)
  const listener = createListener({
    fetch: options.fetch,
    hot: options.hot,
    scheme: tls === undefined ? 'http' : 'https',
    log,
    metrics,
    onRequest: options.onRequest,
    keepAliveMs,
    draining,
    limitBody: (request) => limitBody(request, requestMs, () => refuse(tooSlow(), request.socket)),
  })
  const pair = tls && readTlsFiles(tls)
  const server =
    pair === undefined ? createHttpServer(limits, listener) : createTlsServer(pair, listener)
  server.on('clientError', refuse)
  server.keepAliveTimeout = keepAliveMs
  server.timeout = idleMs
  const connections = connectionsOf(server)
  const url = await listen(server, options.listen, tls === undefined ? 'http' : 'https')
  const admin = await serveAdmin({ ...options, waitingFor }).catch((error: unknown) => {
    server.close()
    throw error
  })
  const reloading =
    tls && pair && 'setSecureContext' in server
      ? reloadTls(server, tls, pair, { log, metrics, intervalMs: options.tlsReloadMs ?? 2000 })
      : undefined

  return {
    url,
    adminUrl: admin.adminUrl,
    async stop(graceMs) {
      const { shutdownDelayMs = 0 } = options
      const wasReady = waitingFor().length === 0
      stopping = true
      if (wasReady && shutdownDelayMs > 0) await sleep(shutdownDelayMs)
      draining.isOn = true
      const { cut } = await drain(server, connections, graceMs)
      if (cut) log.warn({ graceMs }, 'requests cut off at the end of the grace period')
      reloading?.stop()
      admin.stop()
    },
  }
}

/** As Node reports a request that is too slow. */
const tooSlow = () =>
  Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

interface RunningAdmin {
  readonly adminUrl: string
  /** Ends at once. */
  stop(): void
}

/**
 * Opens only the port of probes and metrics, for a process without a public port.
 *
 * @throws Error with a `code` such as EADDRINUSE if the port cannot be opened.
 */
export async function serveAdmin(
  options: Pick<ServeOptions, 'adminListen' | 'metrics' | 'waitingFor' | 'impaired'>,
): Promise<RunningAdmin> {
  const app = createAdminApp(options)
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  const admin = createHttpServer(asListener(answer))
  const adminUrl = await listen(admin, options.adminListen, 'http')
  return {
    adminUrl,
    stop() {
      admin.close()
      admin.closeAllConnections()
    },
  }
}

function createTlsServer({ cert, key }: Pair, listener: ReturnType<typeof createListener>) {
  return createHttpsServer({ ...limits, cert, key, minVersion: 'TLSv1.2' }, listener)
}

function asListener(
  answer: (...args: Parameters<RequestListener>) => Promise<void>,
): RequestListener {
  return (request, response) => void answer(request, response)
}

async function listen(server: Server, { host, port }: Address, scheme: string): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, ...(host !== undefined && { host }) }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const taken = server.address() as AddressInfo
  const shown = host === undefined ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${scheme}://${shown}:${taken.port}`
}

const deadlines = new WeakMap<object, NodeJS.Timeout>()

/**
 * Limits the time in which the body of a request arrives: Node has one limit for all routes, which is that of uploads.
 *
 * @param late ends the request
 */
function limitBody(request: IncomingMessage, ms: number, late: () => void): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (length === undefined && encoding === undefined) return
  const deadline = setTimeout(() => {
    if (!request.complete) late()
  }, ms).unref()
  deadlines.set(request, deadline)
  request.once('close', () => clearTimeout(deadline))
}

/** Lets the body of a request arrive as slowly as an upload, and be answered after long work. */
export function awaitUpload(c: Context<ServingEnv>): void {
  const request = c.env?.incoming
  if (request !== undefined) clearTimeout(deadlines.get(request))
  awaitWork(c)
}

/** Maximum time in which nothing is sent while an upload is stored, in milliseconds. */
export const workMs = 600_000

/** Keeps the connection of a request open while it is worked on. Node sets the usual deadline for the next request. */
export function awaitWork(c: Context<ServingEnv>): void {
  c.env?.incoming?.socket.setTimeout(workMs)
}
