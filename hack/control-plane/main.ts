import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startControlPlane } from './control-plane.ts'
import { applyManifests } from './manifests.ts'

// `node hack/control-plane/main.ts`: a cluster without nodes for whoever has none, with the samples in it, until Ctrl-C.

const config = join(import.meta.dirname, '..', '..', 'config')
const folders = ['crd/bases', 'rbac', 'samples'].map((folder) => join(config, folder))

console.error('Starting etcd and kube-apiserver …')
const controlPlane = await startControlPlane()
const objects = await applyManifests(controlPlane.admin, ...folders.filter((it) => existsSync(it)))
console.log(`A Kubernetes API server with ${objects} objects of config/ in it runs at ${controlPlane.url}

  export KUBECONFIG=${controlPlane.kubeconfigFile}
  kubectl get modules,providers,versions --all-namespaces
  node cmd/server/main.ts --kubeconfig "$KUBECONFIG" --anonymous-auth

Logs and the audit log are in ${controlPlane.directory}.
Press Ctrl-C to end it; nothing of it is kept.`)

const ended = Promise.withResolvers<void>()
process.once('SIGINT', ended.resolve)
process.once('SIGTERM', ended.resolve)
await ended.promise
await controlPlane.stop()
