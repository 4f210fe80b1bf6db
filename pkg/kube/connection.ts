import { existsSync, readFileSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { delimiter, dirname, resolve } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { parse } from 'yaml'
import { messageOf, RegistryError } from '../errors/errors.ts'
import { superviseExecPlugins } from './exec-plugin.ts'

/** What one request needs to reach the API server and to be let in. */
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
}

const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * The cluster that the command line, the pod or `KUBECONFIG` names, in this order.
 *
 * @param kubeconfig path of a kubeconfig file; its current context counts
 * @param env the environment of the process
 * @param serviceAccount where a pod finds its token and authority
 * @throws RegistryError NotConfigured, where there is none or it cannot be read
 */
export function loadConnection({
  kubeconfig,
  env,
  serviceAccount = serviceAccountDirectory,
}: {
  kubeconfig?: string | undefined
  env: Readonly<Record<string, string | undefined>>
  serviceAccount?: string
}): Connection {
  const host = env['KUBERNETES_SERVICE_HOST']
  if (kubeconfig !== undefined) return connect(() => fromFiles([kubeconfig]))
  if (host !== undefined && existsSync(`${serviceAccount}/token`)) {
    const port = env['KUBERNETES_SERVICE_PORT'] ?? '443'
    return connect(() => fromPod(host, port, serviceAccount))
  }
  const files = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '')
  if (files.length > 0) return connect(() => fromFiles(files))
  throw new RegistryError(
    'NotConfigured',
    'not in a cluster and no kubeconfig: name one with --kubeconfig FILE or KUBECONFIG, or serve a directory of manifests with --manifests DIR',
  )
}

function connect(load: () => KubeConfig): Connection {
  let config = checked(load)
  return {
    async credentials() {
      try {
        return await credentialsOf(config)
      } catch (cause) {
        throw new RegistryError(
          'Unauthenticated',
          `no credentials for the API server: ${messageOf(cause)}`,
          { cause },
        )
      }
    },
    reload() {
      try {
        config = checked(load)
      } catch {
        // A file that is being rewritten: what was read before still serves, and the next refusal reads it again.
      }
    },
  }
}

function checked(load: () => KubeConfig): KubeConfig {
  let config: KubeConfig
  try {
    config = load()
  } catch (cause) {
    throw new RegistryError('NotConfigured', `cannot read the kubeconfig: ${messageOf(cause)}`, {
      cause,
    })
  }
  const cluster = config.getCurrentCluster()
  if (cluster === null || config.getCurrentUser() === null) {
    throw new RegistryError(
      'NotConfigured',
      'the kubeconfig has no current context with a cluster and a user: set one with kubectl config use-context NAME',
    )
  }
  if (cluster.server.startsWith('http:') && !cluster.skipTLSVerify) {
    throw new RegistryError(
      'NotConfigured',
      `the API server ${cluster.server} is not https; set insecure-skip-tls-verify in the kubeconfig if that is meant`,
    )
  }
  if (cluster.proxyUrl?.startsWith('socks')) {
    throw new RegistryError('NotConfigured', 'the proxy-url of a kubeconfig must be http or https')
  }
  superviseExecPlugins(config)
  return config
}

function fromFiles(files: readonly string[]): KubeConfig {
  const merged = new KubeConfig()
  for (const [index, file] of files.entries()) {
    const config = new KubeConfig()
    config.loadFromFile(file)
    readTokenFiles(config, file)
    merged.mergeConfig(config, index > 0)
  }
  return merged
}

function fromPod(host: string, port: string, serviceAccount: string): KubeConfig {
  const config = new KubeConfig()
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
  const tokenFile = `${serviceAccount}/token`
  config.loadFromClusterAndUser(
    { name: 'cluster', server, caFile: `${serviceAccount}/ca.crt`, skipTLSVerify: false },
    { name: 'service account', authProvider: { name: 'tokenFile', config: { tokenFile } } },
  )
  return config
}

/** client-node knows the `tokenFile` of a pod, but not the one of a kubeconfig. */
function readTokenFiles(config: KubeConfig, file: string): void {
  const source = parse(readFileSync(file, 'utf8')) as {
    users?: { name: string; user?: { tokenFile?: unknown } }[]
  }
  for (const { name, user } of source.users ?? []) {
    const known = config.getUser(name)
    if (typeof user?.tokenFile !== 'string' || known === null) continue
    const tokenFile = resolve(dirname(file), user.tokenFile)
    const authProvider = { name: 'tokenFile', config: { tokenFile } }
    config.users = config.users.map((other) =>
      other.name === name ? { ...known, authProvider } : other,
    )
  }
}

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = { headers: {} }
  await config.applyToHTTPSOptions(options)
  const headers = { ...(options.headers as Record<string, string>) }
  if (typeof options.auth === 'string') {
    headers['Authorization'] ??= `Basic ${Buffer.from(options.auth).toString('base64')}`
  }
  if (headers['Authorization'] !== undefined) {
    headers['Authorization'] = headers['Authorization'].trim()
  }
  const { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = options
  const given = { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized }
  const cluster = config.getCurrentCluster()
  return {
    server: (cluster?.server ?? '').replace(/\/+$/, ''),
    headers,
    tls: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(cluster?.proxyUrl && { proxyUrl: cluster.proxyUrl }),
  }
}
