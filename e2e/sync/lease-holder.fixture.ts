import { loadConnection, openCluster } from '../../pkg/kube/kube.ts'
import { elect } from '../../pkg/lease/lease.ts'
import { createLogger, createMetrics } from '../../pkg/telemetry/telemetry.ts'

/*
 * A replica that writes as often as it can while it holds a lease, and prints what happens: `held`, `lost`, and after each of
 * them once `wrote` and `refused`. Arguments: kubeconfig, identity.
 */

const [kubeconfig = '', identity = ''] = process.argv.slice(2)
const print = (line: string) => process.stdout.write(`${line}\n`)
const told = new Set<string>()
const tell = (what: string) => {
  if (!told.has(what)) print(what)
  told.add(what)
}
const turn = (what: string) => {
  told.clear()
  print(what)
}
const metrics = createMetrics({ version: 'test' })
const log = createLogger('silent')
const connection = loadConnection({ kubeconfig, env: {} })
const cluster = openCluster({ connection, apiGroup: 'depot.internal', log, metrics })
const election = elect({
  client: cluster.client,
  namespace: 'team',
  name: 'writer',
  identity,
  log,
  metrics,
  timings: { leaseMs: 10_000, renewMs: 8_000, retryMs: 300 },
  onHeld(signal) {
    turn('held')
    signal.addEventListener('abort', () => turn('lost'))
  },
})
election.start()
process.once('SIGTERM', () => {
  clearInterval(timer)
  void election.release().then(() => process.exit())
})

const client = election.guard(cluster.client)
const configMap = { kind: 'ConfigMap', metadata: { namespace: 'team', name: 'written' } } as const
const timer = setInterval(() => {
  client.apply({ ...configMap, data: { [identity]: String(Date.now()) } }, identity).then(
    () => tell('wrote'),
    () => tell('refused'),
  )
}, 20)
