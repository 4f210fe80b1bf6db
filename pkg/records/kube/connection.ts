import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { delimiter } from 'node:path'
import { messageOf, RegistryError } from '../../base/errors/errors.ts'
import type { Connection } from './credentials.ts'
import { connectByKubeconfig } from './kubeconfig.ts'

/**
 * Connects to the cluster that the command line, the pod or `KUBECONFIG` names, in this order.
 *
 * @param kubeconfig path of a kubeconfig file; its current context counts
 * @param env the environment of the process
 * @param serviceAccount where a pod finds its token and authority
 * @throws RegistryError NotConfigured if there is none or it cannot be used
 */
export function loadConnection({
  kubeconfig,
  env,
  serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount',
}: {
  kubeconfig?: string | undefined
  env: Readonly<Record<string, string | undefined>>
  serviceAccount?: string
}): Connection {
  const host = env['KUBERNETES_SERVICE_HOST']
  if (kubeconfig !== undefined) return connectByKubeconfig([kubeconfig])
  if (host !== undefined && existsSync(`${serviceAccount}/token`)) {
    return connectFromPod({ host, port: env['KUBERNETES_SERVICE_PORT'] ?? '443', serviceAccount })
  }
  const files = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '')
  if (files.length > 0) return connectByKubeconfig(files)
  throw new RegistryError(
    'NotConfigured',
    'not in a cluster and no kubeconfig: name one with --kubeconfig FILE or KUBECONFIG, or serve a directory of manifests with --manifests DIR',
  )
}

/** The service account of the pod of this process. Both files are rotated, so they are read each time. */
function connectFromPod({
  host,
  port,
  serviceAccount,
}: {
  readonly host: string
  readonly port: string
  /** Folder with the files `token` and `ca.crt`. */
  readonly serviceAccount: string
}): Connection {
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
  return {
    async credentials() {
      try {
        const token = await readFile(`${serviceAccount}/token`, 'utf8')
        const ca = await readFile(`${serviceAccount}/ca.crt`)
        return { server, headers: { Authorization: `Bearer ${token.trim()}` }, tls: { ca } }
      } catch (cause) {
        throw new RegistryError(
          'Unauthenticated',
          `cannot read the service account of the pod: ${messageOf(cause)}`,
          { cause },
        )
      }
    },
    reload() {},
    recheck() {},
  }
}
