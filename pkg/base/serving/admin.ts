import { Readable } from 'node:stream'
import { getHeapSnapshot } from 'node:v8'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import type { Metrics } from '../telemetry/telemetry.ts'

export interface AdminOptions {
  readonly metrics: Metrics
  /** Things that the server still waits for; empty once it is ready. */
  readonly waitingFor: () => readonly string[]
  /** Problems of a server that is ready, in words. Default: none. */
  readonly impaired?: (() => readonly string[]) | undefined
}

type AdminApp = Hono<{ Bindings: HttpBindings }>

const loopback = /^(::ffff:)?127\.|^::1$/

/** Probes and metrics for operators and Kubernetes, on a separate port. */
export function createAdminApp({
  metrics,
  waitingFor,
  impaired = () => [],
}: AdminOptions): AdminApp {
  return (
    new Hono<{ Bindings: HttpBindings }>()
      .use(async (c, next) => {
        await next()
        c.header('X-Content-Type-Options', 'nosniff')
      })
      .get('/livez', (c) => c.text('ok\n'))
      .get('/readyz', (c) => {
        const waiting = waitingFor()
        const lines = impaired().map((problem) => `impaired: ${problem}\n`)
        return waiting.length === 0
          ? c.text(`ok\n${lines.join('')}`)
          : c.text(`not ready: ${waiting.join(', ')}\n${lines.join('')}`, 503)
      })
      .get('/metrics', async (c) =>
        c.body(await metrics.metrics(), 200, { 'Content-Type': metrics.contentType }),
      )
      // Memory contains secrets, so only the machine or pod itself may read it.
      .post('/heap', (c) =>
        loopback.test(c.env.incoming.socket.remoteAddress ?? '')
          ? c.body(Readable.toWeb(getHeapSnapshot()) as ReadableStream)
          : c.text('a heap snapshot is only for callers on this machine or in this pod\n', 403),
      )
      .notFound((c) =>
        c.text('there are /livez, /readyz and /metrics, and depot snapshot for memory\n', 404),
      )
  )
}
