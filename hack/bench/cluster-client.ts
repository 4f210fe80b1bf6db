import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Agent } from 'undici'
import { kindNames } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'

/*
 * Reads everything an API server has, once: `cluster-client.ts bare|depot URL DIRECTORY`, with the files token and
 * ca.crt in the directory, as a pod has them. `bare` splits the stream of Versions into lines and parses each.
 */

const [mode, url = '', serviceAccount = ''] = process.argv.slice(2)

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
const start = performance.now()
const startCpu = process.cpuUsage()
const startThread = process.threadCpuUsage()
const versions = mode === 'bare' ? await readBare() : await readDepot()
const seconds = (performance.now() - start) / 1000
const { user, system } = process.cpuUsage(startCpu)
const thread = process.threadCpuUsage(startThread)
delay.disable()

console.log(
  JSON.stringify({
    mode,
    versions,
    seconds: Number(seconds.toFixed(2)),
    cpuSeconds: Number(((user + system) / 1e6).toFixed(2)),
    threadSeconds: Number(((thread.user + thread.system) / 1e6).toFixed(2)),
    peakRssMegabytes: Math.round(process.resourceUsage().maxRSS / 1024),
    rssMegabytes: Math.round(process.memoryUsage.rss() / 1e6),
    loopDelayMs: { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 },
  }),
)
process.exit()

async function readBare(): Promise<number> {
  const agent = new Agent({
    allowH2: false,
    connect: { ca: readFileSync(join(serviceAccount, 'ca.crt')) },
  })
  const query =
    'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  const path = `/apis/depot.internal/v1alpha1/versions?${query}`
  const { body } = await agent.request({
    method: 'GET',
    origin: url,
    path,
    headers: { authorization: `Bearer ${readFileSync(join(serviceAccount, 'token'), 'utf8')}` },
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
  const { hostname, port } = new URL(url)
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
  const cluster = openCluster({
    connection: loadConnection({ env, serviceAccount }),
    apiGroup: 'depot.internal',
    log: createLogger('warn'),
    metrics: createMetrics({ version: 'bench' }),
  })
  const scope = { bindingsNamespace: 'depot-system' }
  await cluster.watch({ kinds: kindNames, scope, sink: catalog }).ready
  return catalog.count('Version')
}
