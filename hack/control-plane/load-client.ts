import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Agent } from 'undici'
import { limitHeap } from '../../cmd/server/heap.ts'
import { Catalog } from '../../pkg/catalog/catalog.ts'
import { loadConnection, watchCluster } from '../../pkg/kube/kube.ts'
import { createLogger, createMetrics } from '../../pkg/telemetry/telemetry.ts'

/*
 * Reads everything an API server has, once: `load-client.ts bare|depot KUBECONFIG URL CA`. `bare` splits the stream of
 * Versions into lines and parses each, and that is all.
 */

const [mode, kubeconfig, url = '', ca = ''] = process.argv.slice(2)

limitHeap()
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
const start = performance.now()
const versions = mode === 'bare' ? await readBare() : await readDepot()
const seconds = (performance.now() - start) / 1000
delay.disable()

console.log(
  JSON.stringify({
    mode,
    versions,
    seconds: Number(seconds.toFixed(2)),
    peakRssMegabytes: Math.round(process.resourceUsage().maxRSS / 1024),
    rssMegabytes: Math.round(process.memoryUsage.rss() / 1e6),
    loopDelayMs: { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 },
  }),
)
process.exit()

async function readBare(): Promise<number> {
  const agent = new Agent({ allowH2: false, connect: { ca: readFileSync(ca) } })
  const query =
    'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  const path = `/apis/depot.internal/v1alpha1/versions?${query}`
  const { body } = await agent.request({
    method: 'GET',
    origin: url,
    path,
    headers: { authorization: `Bearer ${process.env['TOKEN'] ?? ''}` },
  })
  let rest = Buffer.alloc(0)
  let count = 0
  for await (const chunk of body) {
    const bytes = Buffer.concat([rest, chunk as Buffer])
    let from = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      const { type } = JSON.parse(bytes.toString('utf8', from, end)) as { type: string }
      if (type === 'BOOKMARK') return count
      count += 1
      from = end + 1
    }
    rest = bytes.subarray(from)
  }
  return count
}

async function readDepot(): Promise<number> {
  const catalog = new Catalog()
  const cluster = watchCluster({
    connection: loadConnection({ kubeconfig, env: {} }),
    apiGroup: 'depot.internal',
    bindingsNamespace: 'depot-system',
    sink: catalog,
    log: createLogger('warn'),
    metrics: createMetrics({ version: 'bench' }),
  })
  await cluster.ready
  return catalog.count('Version')
}
