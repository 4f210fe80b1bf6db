import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '../../../pkg/base/errors/errors.ts'
import { onPath, portOf, preparePlayground, quoted, writeCliConfig } from '../../playground.ts'
import { toolPath } from '../tools.ts'
import { type ControlPlane, startControlPlane } from './control-plane.ts'
import { type Filling, prepareFilling } from './filling.ts'
import { applyAsController, applyManifests } from './manifests.ts'
import { sampleStatus } from './sample-status.ts'

/*
 * `make run-cluster`: a cluster without nodes for people without a cluster, with the samples in it as if a controller had reconciled
 * them. Prints how to start the server on it and what to type then. Lasts until Ctrl-C.
 */

const repository = join(import.meta.dirname, '../../..')
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8080' },
    'ui-port': { type: 'string', default: '3000' },
    dir: { type: 'string', default: join(repository, '.depot') },
  },
})
const port = portOf('PORT', values.port)
const uiPort = portOf('UI_PORT', values['ui-port'])

function fail(message: string): never {
  console.error(`depot: ${message}`)
  process.exit(1)
}

function requireTools(): void {
  if (!onPath('openssl')) fail('openssl is missing: install it, certificates are made with it')
  try {
    toolPath('etcd')
    toolPath('kube-apiserver')
  } catch {
    // hack/tool has said why.
    process.exit(1)
  }
}

async function fill({ admin }: ControlPlane, archives: string): Promise<number> {
  const folders = ['crd/bases', 'rbac', 'samples'].map((folder) =>
    join(repository, 'config', folder),
  )
  const count = await applyManifests(admin, ...folders)
  const objects = sampleStatus(archives)
  await applyAsController(admin, objects)
  return count + objects.filter(({ kind }) => kind === 'ConfigMap').length
}

const fillingText = ({ namespace, flags }: Filling): string => `
The Depot main in the namespace ${namespace} asks for a module and a provider. Stand-ins for GitHub and for a signed registry
run here too; in one more terminal, start the controller, which fetches both:

${indented([
  `./${here(join(repository, 'depot'))} controller \\`,
  `  --kubeconfig ${kubeconfig} --watch-namespaces ${namespace} \\`,
  `  --archives ${here(playground.archives)} --admin-listen 127.0.0.1:0 \\`,
  `  ${flags.map(quoted).join(' \\\n      ')}`,
])}
Then depot.test/${namespace}/vpc/aws and depot.test/${namespace}/dns can be installed. See what it did, and ask for a sync at once
instead of in a minute:

${indented([
  `export KUBECONFIG=${kubeconfig}`,
  `kubectl -n ${namespace} wait depots/main modules/vpc providers/dns --for=condition=Ready --timeout=2m`,
  `kubectl -n ${namespace} get depots,modules,providers,versions`,
  `kubectl -n ${namespace} get events`,
  `kubectl -n ${namespace} annotate depots main depot.internal/sync-requested-at="$(date)" --overwrite`,
])}
docs/sync.md says what else a Depot can do.
`

const indented = (lines: readonly string[]): string => lines.map((line) => `    ${line}\n`).join('')

requireTools()
const ended = Promise.withResolvers<void>()
process.once('SIGINT', ended.resolve)
process.once('SIGTERM', ended.resolve)
console.log('depot: starting etcd and kube-apiserver')
const playground = await preparePlayground(values.dir, port)
writeCliConfig(playground.cliConfig, port, `http://127.0.0.1:${uiPort}`)
const controlPlane = await startControlPlane().catch((err: unknown) => fail(messageOf(err)))
const objects = await fill(controlPlane, playground.archives).catch(async (err: unknown) => {
  await controlPlane.stop()
  fail(messageOf(err))
})

// Keys of the upstream registry are made with the real gpg.
const filling = onPath('gpg') ? await prepareFilling(controlPlane, values.dir) : undefined

const here = (path: string): string => quoted(relative(process.cwd(), path) || '.')
const kubeconfig = quoted(controlPlane.kubeconfigFile)
console.log(`
A Kubernetes API server with ${objects} objects of config/ in it runs at ${controlPlane.url}.
In a second terminal, in this folder, start Depot on it:

${indented([
  `./${here(join(repository, 'depot'))} server --anonymous-auth \\`,
  `  --kubeconfig ${kubeconfig} \\`,
  `  --archives ${here(playground.archives)} \\`,
  `  --gpg-private-key-path ${here(playground.signingKey)} \\`,
  `  --stats-path ${here(playground.statsPath)} \\`,
  `  --listen 127.0.0.1:${port} --admin-listen 127.0.0.1:0`,
])}
In a third one, install from it:

${indented(playground.linesToType)}
and change its records${onPath('kubectl') ? '' : ' (kubectl is not on PATH: install it first)'}:

${indented([
  `export KUBECONFIG=${kubeconfig}`,
  'kubectl get depots,modules,providers,versions --all-namespaces',
])}
Look around in a browser, at http://127.0.0.1:${uiPort}:

${indented([
  'make ui',
  `./${here(join(repository, 'depot'))} ui \\`,
  `  --server-url http://127.0.0.1:${port} --listen 127.0.0.1:${uiPort} --admin-listen 127.0.0.1:0`,
])}
${filling ? fillingText(filling) : ''}Logs and the audit log are in ${controlPlane.directory}.
Ctrl-C ends it; nothing of it is kept.`)

await ended.promise
await filling?.close()
await controlPlane.stop()
