import { Hono } from 'hono'
import type { Metrics } from '../telemetry/telemetry.ts'

export interface AdminOptions {
  readonly metrics: Metrics
  /** Things that the server still waits for; empty once it is ready. */
  readonly waitingFor: () => readonly string[]
  /** Problems of a server that is ready, in words. Default: none. */
  readonly impaired?: (() => readonly string[]) | undefined
}

/** Probes and metrics for operators and Kubernetes, on a separate port. */
export function createAdminApp({ metrics, waitingFor, impaired = () => [] }: AdminOptions): Hono {
  return new Hono()
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
    .notFound((c) => c.text('there are /livez, /readyz and /metrics\n', 404))
}
