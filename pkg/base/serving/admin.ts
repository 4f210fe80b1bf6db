import { Hono } from 'hono'
import type { Metrics } from '../telemetry/telemetry.ts'

export interface AdminOptions {
  readonly metrics: Metrics
  /** What the server is still waiting for; empty when it is ready. */
  readonly waitingFor: () => readonly string[]
  /** What does not work although the server is ready, in words. Default: nothing. */
  readonly impaired?: (() => readonly string[]) | undefined
}

/** What operators and Kubernetes ask, on a port of its own: probes and metrics. */
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
