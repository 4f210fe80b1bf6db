import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import { LeaseElection } from '../../pkg/records/lease/lease.ts'

/*
 * A replica that writes as often as it can while it holds a lease, and prints events: `held`, `lost`, and after each of them
 * once `wrote` and `refused`, for writes that began after it. Arguments: kubeconfig, identity.
 */

const [kubeconfig = '', identity = ''] = process.argv.slice(2)
const print = (line: string) => process.stdout.write(`${line}\n`)
let told = new Set<string>()
const turn = (what: string) => {
  told = new Set()
  print(what)
}
const metrics = createMetrics({ version: 'test' })
const log = createLogger('silent')
const connection = loadConnection({ kubeconfig, env: {} })
const cluster = openCluster({ connection, apiGroup: 'depot.internal', log, metrics })
const election = new LeaseElection({
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
/** More would queue up for a slow API server and delay the renewal of the lease. */
const maxWriting = 4
let writing = 0
const timer = setInterval(() => {
  if (writing === maxWriting) return
  writing += 1
  void write().finally(() => {
    writing -= 1
  })
}, 20)

async function write(): Promise<void> {
  const toldBefore = told
  const applying = client.apply(
    { ...configMap, data: { [identity]: String(Date.now()) } },
    identity,
  )
  const outcome = await applying.then(
    () => 'wrote',
    () => 'refused',
  )
  if (told === toldBefore && !told.has(outcome)) print(outcome)
  toldBefore.add(outcome)
}
