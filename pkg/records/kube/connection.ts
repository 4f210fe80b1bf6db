import { existsSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { delimiter } from 'node:path'
import { RegistryError } from '../../base/errors/errors.ts'
import { connectByKubeconfig } from './kubeconfig.ts'
import { connectFromPod } from './pod.ts'

/** Address and credentials for one request to the API server. */
export interface Credentials {
  /** Address of the API server without a trailing slash; it may have a path. */
  readonly server: string
  readonly headers: Readonly<Record<string, string>>
  readonly tls: Pick<
    RequestOptions,
    'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'servername' | 'rejectUnauthorized'
  >
  /** The `proxy-url` of the kubeconfig: http or https. */
  readonly proxyUrl?: string
}

/** A way to the API server that keeps up with rotated tokens, certificates and authorities. */
export interface Connection {
  /** @throws RegistryError Unauthenticated, where a credential plugin fails or a file is gone */
  credentials(): Promise<Credentials>
  /** Forgets what is cached, because the API server refused it. */
  reload(): void
  /** Forgets it where its files were rewritten, because the API server cannot be reached. */
  recheck(): void
}

/**
 * The cluster that the command line, the pod or `KUBECONFIG` names, in this order.
 *
 * @param kubeconfig path of a kubeconfig file; its current context counts
 * @param env the environment of the process
 * @param serviceAccount where a pod finds its token and authority
 * @throws RegistryError NotConfigured, where there is none or it cannot be used
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
