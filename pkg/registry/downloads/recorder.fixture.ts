import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { createDownloads } from './downloads.ts'

/**
 * A process that records downloads, each of another module, to be killed. It reads its orders as JSON from its only argument, prints a line with the
 * number of downloads and the time after each burst, and ends when it is asked to on stdin.
 */
const { uid, bursts, pauseMs, store, journalDir, limits } = JSON.parse(process.argv[2] ?? '') as {
  uid?: number
  bursts: number
  pauseMs: number
  store: Parameters<typeof createDownloads>[0]['store']
  journalDir: string
  limits?: object
}
if (uid !== undefined) process.setuid?.(uid)

const metrics = createMetrics({ version: 'test' })
const downloads = createDownloads({
  store,
  journalDir,
  refreshIntervalMs: 100,
  sink: { setDownloads: () => undefined },
  log: createLogger('info'),
  metrics,
  ...(limits && { limits }),
})
const event = { kind: 'Module', namespace: 'a', version: '1.0.0' } as const
let recorded = 0
const timer = setInterval(() => {
  for (let index = 0; index < 10; index += 1) {
    downloads.record({ ...event, name: `m${process.pid}-${recorded}` })
    recorded += 1
  }
  process.stdout.write(`${JSON.stringify({ recorded, at: Date.now() })}\n`)
  if (recorded >= bursts * 10) clearInterval(timer)
}, pauseMs)

async function close(): Promise<void> {
  clearInterval(timer)
  await downloads.close(5_000)
  const dropped = await metrics.getSingleMetric('depot_download_events_dropped_total')?.get()
  const lost = dropped?.values.reduce((sum, { value }) => sum + value, 0)
  process.stdout.write(`${JSON.stringify({ recorded, lost, closed: true })}\n`)
  process.exit()
}
process.stdin.once('data', () => void close())
