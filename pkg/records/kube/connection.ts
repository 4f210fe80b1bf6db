import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import { delimiter, dirname, resolve } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { parse } from 'yaml'
import * as z from 'zod'
import { messageOf, RegistryError } from '../../base/errors/errors.ts'
import { contentsOf } from '../../base/files/files.ts'

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

const Kubeconfig = z.object({
  'current-context': z.string().optional(),
  clusters: z
    .array(
      z.object({
        name: z.string(),
        cluster: z.object({
          server: z.string(),
          'insecure-skip-tls-verify': z.boolean().optional(),
          'proxy-url': z.string().optional(),
        }),
      }),
    )
    .nullish(),
  users: z
    .array(
      z.object({
        name: z.string(),
        user: z.object({ tokenFile: z.string().optional() }).nullish(),
      }),
    )
    .nullish(),
  contexts: z
    .array(
      z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string() }) }),
    )
    .nullish(),
})

/**
 * Reads the cluster and the user of the current context of kubeconfig files, which may change at any time.
 *
 * @throws RegistryError NotConfigured if they cannot be used
 */
function connectByKubeconfig(files: readonly string[]): Connection {
  check(files)
  let config: Promise<KubeConfig> | undefined
  let loaded = ''
  let asking: Promise<Credentials> | undefined

  async function ask(): Promise<Credentials> {
    try {
      if (config === undefined) loaded = contentsOf(files)
      config ??= load(files)
      return await credentialsOf(await config)
    } catch (cause) {
      config = undefined
      throw new RegistryError(
        'Unauthenticated',
        `no credentials for the API server: ${messageOf(cause)}`,
        { cause },
      )
    } finally {
      asking = undefined
    }
  }

  return {
    // Concurrent requests share the answer, so that a plugin does not run six times at once.
    credentials: () => (asking ??= ask()),
    reload() {
      config = undefined
    },
    recheck() {
      if (contentsOf(files) !== loaded) config = undefined
    },
  }
}

/** Finds mistakes before the first request. */
function check(files: readonly string[]): void {
  const refuse = (message: string, cause?: unknown) =>
    new RegistryError('NotConfigured', message, { cause })
  const parts = files.map((file) => {
    try {
      return Kubeconfig.parse(parse(readFileSync(file, 'utf8')))
    } catch (cause) {
      const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause)
      throw refuse(`cannot read the kubeconfig ${file}: ${why}`, cause)
    }
  })
  const current = parts.find((part) => part['current-context'])?.['current-context']
  const contexts = parts.flatMap((part) => part.contexts ?? [])
  const context = contexts.find(({ name }) => name === current)?.context
  const clusters = parts.flatMap((part) => part.clusters ?? [])
  const cluster = clusters.find(({ name }) => name === context?.cluster)?.cluster
  const users = parts.flatMap((part) => part.users ?? [])
  if (cluster === undefined || !users.some(({ name }) => name === context?.user)) {
    throw refuse(
      'the kubeconfig has no current context with a cluster and a user: set one with kubectl config use-context NAME',
    )
  }
  if (cluster.server.startsWith('http:') && cluster['insecure-skip-tls-verify'] !== true) {
    throw refuse(
      `the API server ${cluster.server} is not https; set insecure-skip-tls-verify in the kubeconfig if that is meant`,
    )
  }
  if (cluster['proxy-url']?.startsWith('socks')) {
    throw refuse('the proxy-url of a kubeconfig must be http or https')
  }
}

/** client-node is imported here, and in no pod, because it takes some 60 MB. */
async function load(files: readonly string[]): Promise<KubeConfig> {
  const { KubeConfig: Loaded } = await import('@kubernetes/client-node')
  const merged = new Loaded()
  for (const [index, file] of files.entries()) {
    const config = new Loaded()
    config.loadFromFile(file)
    readTokenFiles(config, file)
    merged.mergeConfig(config, index > 0)
  }
  superviseExecPlugins(merged)
  return merged
}

/** client-node reads the token file of a pod, but not the one of a kubeconfig. */
function readTokenFiles(config: KubeConfig, file: string): void {
  const { users } = Kubeconfig.parse(parse(readFileSync(file, 'utf8')))
  const files = new Map(users?.map(({ name, user }) => [name, user?.tokenFile]))
  config.users = config.users.map((user) => {
    const tokenFile = files.get(user.name)
    if (tokenFile === undefined) return user
    const path = resolve(dirname(file), tokenFile)
    return { ...user, authProvider: { name: 'tokenFile', config: { tokenFile: path } } }
  })
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

const timeoutMs = 60_000

/** client-node has no timeout for a plugin, and does not tell it the requested API version. */
function superviseExecPlugins(config: KubeConfig): void {
  for (const authenticator of config['authenticators']) {
    if (!('execFn' in authenticator)) continue
    authenticator.execFn = (
      command: string,
      args: readonly string[] | undefined,
      options: { env?: NodeJS.ProcessEnv },
    ) => {
      const exec = config.getCurrentUser()?.exec as { apiVersion?: string } | undefined
      const request = {
        apiVersion: exec?.apiVersion ?? 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        spec: { interactive: false },
      }
      const env = {
        ...(options.env ?? process.env),
        KUBERNETES_EXEC_INFO: JSON.stringify(request),
      }
      return spawn(command, args ?? [], { ...options, env, timeout: timeoutMs })
    }
  }
}

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

/** Credentials for an API server that follow rotations of tokens, certificates and authorities. */
export interface Connection {
  /** @throws RegistryError Unauthenticated if a credential plugin fails or a file is missing */
  credentials(): Promise<Credentials>
  /** Drops cached credentials, because the API server refused them. */
  reload(): void
  /** Drops cached credentials if their files changed, because the API server cannot be reached. */
  recheck(): void
}
