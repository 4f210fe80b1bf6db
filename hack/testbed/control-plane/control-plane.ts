import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../ports.ts'
import { toolPath } from '../tools.ts'
import { type Authority, createAuthority, createSigningKey } from './certificates.ts'
import { apiServerFlags, auditPolicy, etcdFlags } from './flags.ts'
import { kubeconfigOf } from './kubeconfig.ts'
import { type ApiClient, createApiClient } from './request.ts'
import { type Supervised, supervise, untilReady } from './supervised.ts'

export interface ControlPlane {
  /** The URL of the API server, such as https://127.0.0.1:40123; the same after a restart. */
  readonly url: string
  readonly port: number
  /** PEM of the authority that signed the API server's certificate. */
  readonly ca: string
  /** Signs certificates that the API server accepts from clients, and its own. */
  readonly authority: Authority
  /** Bearer token of each user. */
  readonly tokens: Readonly<Record<string, string>>
  /** The kubeconfig of the user `admin`. */
  readonly kubeconfigFile: string
  /** One JSON object a line for every request, with verb, user and URI. */
  readonly auditLogFile: string
  /** Holds everything above, and the logs of both processes. */
  readonly directory: string
  readonly admin: ApiClient
  /** A kubeconfig file for a user or for a token, and for another address if one is given. */
  kubeconfig(options: { user?: string; token?: string; url?: string }): Promise<string>
  /** A token of a service account, as a pod gets it. */
  serviceAccountToken(namespace: string, name: string, seconds?: number): Promise<string>
  /** Stops or kills the API server. etcd and its data stay. */
  stopApiServer(how?: 'stop' | 'kill'): Promise<void>
  /** Starts it again, on the same port, and waits until it is ready. */
  startApiServer(): Promise<void>
  /** Forgets all history in etcd: a watch from an older resourceVersion expires. */
  compact(): Promise<void>
  /** Stops both, hands over the folder that etcd keeps its data in, and starts them again. */
  whileStopped(change: (data: string) => Promise<void>): Promise<void>
  /** Ends both and removes the directory. */
  stop(): Promise<void>
}

/**
 * Starts etcd and an API server on 127.0.0.1, with RBAC and an audit log, in a temporary directory. There are no nodes and no
 * controllers: nothing collects garbage, and a namespace that is deleted stays in Terminating.
 *
 * @param users names and groups of token users in addition to `admin`
 * @param port of the API server. Default: a free one
 */
export async function startControlPlane({
  users = {},
  port,
}: {
  users?: Readonly<Record<string, readonly string[]>>
  port?: number
} = {}): Promise<ControlPlane> {
  const [etcdBinary, apiServerBinary] = [toolPath('etcd'), toolPath('kube-apiserver')]
  const directory = await mkdtemp(join(tmpdir(), 'depot-control-plane-'))
  const file = (name: string) => join(directory, name)
  const authority = createAuthority(file('pki'))
  const [etcdPort = 0, peerPort = 0, freePort = 0] = await freePorts(3)
  const apiPort = port ?? freePort
  const url = `https://127.0.0.1:${apiPort}`
  const groups: Record<string, readonly string[]> = { admin: ['system:masters'], ...users }
  const names = Object.keys(groups)
  const tokens = Object.fromEntries(names.map((name) => [name, randomBytes(16).toString('hex')]))
  const tokenLines = names.map((name) => {
    const memberships = (groups[name] ?? []).join(',')
    return `${tokens[name]},${name},${name},"${memberships}"`
  })
  await writeFile(file('tokens.csv'), `${tokenLines.join('\n')}\n`)
  await writeFile(file('audit-policy.yaml'), auditPolicy)
  createSigningKey(file('service-accounts.key'))
  await mkdir(file('etcd'), { mode: 0o700 })

  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const startEtcd = () =>
    supervise(etcdBinary, etcdFlags(file('etcd'), etcdUrl, peerPort), {
      logFile: file('etcd.log'),
      directory,
    })
  let etcd = startEtcd()
  const admin = createApiClient({ url, ca: authority.cert, token: tokens['admin'] ?? '' })
  const serving = authority.server('kube-apiserver')
  const flags = apiServerFlags({ file, etcdUrl, port: apiPort, serving, authority })
  let apiServer: Supervised | undefined

  async function startApiServer(): Promise<void> {
    apiServer = supervise(apiServerBinary, flags, {
      logFile: file('kube-apiserver.log'),
      directory,
    })
    const ready = async () => (await admin.send('GET', '/readyz')).status === 200
    await untilReady('kube-apiserver', apiServer, ready, file('kube-apiserver.log'), 60_000)
  }

  async function kubeconfig(options: { user?: string; token?: string; url?: string }) {
    const token = options.token ?? tokens[options.user ?? 'admin'] ?? ''
    const path = file(`kubeconfig-${randomBytes(4).toString('hex')}`)
    await writeFile(path, kubeconfigOf({ url, ca: authority.cert, ...options, token }))
    return path
  }

  async function stop(): Promise<void> {
    await admin.close()
    await apiServer?.kill()
    await etcd.kill()
    await rm(directory, { recursive: true, force: true })
  }

  async function untilEtcdIsReady(): Promise<void> {
    const health = async () => (await fetch(`${etcdUrl}/health`)).ok
    await untilReady('etcd', etcd, health, file('etcd.log'), 30_000)
  }

  try {
    await untilEtcdIsReady()
    await startApiServer()
  } catch (err) {
    await stop()
    throw err
  }
  return {
    url,
    port: apiPort,
    ca: authority.cert,
    authority,
    tokens,
    kubeconfigFile: await kubeconfig({ user: 'admin' }),
    auditLogFile: file('audit.log'),
    directory,
    admin,
    kubeconfig,
    async serviceAccountToken(namespace, name, seconds = 3600) {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
      const answer = await admin.request('POST', path, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: seconds },
      })
      return (answer as { status: { token: string } }).status.token
    },
    async stopApiServer(how = 'stop') {
      await (how === 'kill' ? apiServer?.kill() : apiServer?.stop())
    },
    startApiServer,
    compact: () => compact(etcdUrl),
    async whileStopped(change) {
      await apiServer?.stop()
      await etcd.stop()
      await change(file('etcd'))
      etcd = startEtcd()
      await untilEtcdIsReady()
      await startApiServer()
    },
    stop,
  }
}

async function compact(etcdUrl: string): Promise<void> {
  const post = async (path: string, body: object) => {
    const response = await fetch(`${etcdUrl}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`etcd ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { header?: { revision?: string } }
  }
  const { header } = await post('/v3/kv/range', { key: Buffer.from('/').toString('base64') })
  await post('/v3/kv/compaction', { revision: header?.revision, physical: true })
}
