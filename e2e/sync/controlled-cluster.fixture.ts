import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { render } from '../../hack/chart/helm.fixture.ts'
import {
  type ControlPlane,
  startControlPlane,
} from '../../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../../hack/testbed/control-plane/manifests.ts'
import { depotArguments } from '../../hack/testbed/program/command.ts'
import { launchProgram, type Server } from '../../hack/testbed/server/server.ts'
import { startUpstreams, type Upstreams } from '../../hack/testbed/upstream/upstreams.ts'

const root = '/apis/depot.internal/v1alpha1'
const user = 'system:serviceaccount:depot-system:depot-controller'

interface Object {
  readonly metadata: { readonly name: string }
  readonly status?: Readonly<Record<string, unknown>> & {
    readonly synced?: boolean
    readonly checksum?: string
    readonly artifact?: { readonly fileName?: string }
  }
}

interface Audited {
  readonly verb: string
  readonly requestURI: string
  readonly user: { readonly username: string }
  readonly responseStatus: { readonly code: number }
}

/** A real API server with the chart's rights for the controller, upstreams, and folders for archives. */
export class ControlledCluster {
  readonly plane: ControlPlane
  readonly upstreams: Upstreams
  readonly dir = mkdtempSync(join(tmpdir(), 'depot-controlled-'))
  /** The controller's storage flags. Set them before it starts. */
  archives = join(this.dir, 'archives')
  /** The folder of the next controller for archives in transit. */
  spool = join(this.dir, 'spool')
  readonly #kubeconfig: string

  private constructor(plane: ControlPlane, upstreams: Upstreams, kubeconfig: string) {
    this.plane = plane
    this.upstreams = upstreams
    this.#kubeconfig = kubeconfig
    mkdirSync(this.archives)
  }

  static async start(...namespaces: readonly string[]): Promise<ControlledCluster> {
    const plane = await startControlPlane()
    for (const name of ['depot-system', ...namespaces]) {
      await plane.admin.request('POST', '/api/v1/namespaces', { metadata: { name } })
    }
    const given = /^(ServiceAccount|(Cluster)?Role(Binding)?)$/
    const rights = render({
      controller: { enabled: true, requireStorageGrants: true, secretNamespaces: namespaces },
      server: { anonymousAuth: true },
      crds: { install: false },
    }).filter(
      ({ kind, metadata }) => given.test(kind) && metadata.name.startsWith('depot-controller'),
    )
    const dir = mkdtempSync(join(tmpdir(), 'depot-rights-'))
    writeFileSync(
      join(dir, 'rights.yaml'),
      rights.map((right) => `---\n${JSON.stringify(right)}\n`).join(''),
    )
    await applyManifests(plane.admin, 'config/crd/bases', dir)
    rmSync(dir, { recursive: true })
    const token = await plane.serviceAccountToken('depot-system', 'depot-controller')
    return new ControlledCluster(plane, await startUpstreams(), await plane.kubeconfig({ token }))
  }

  /** Starts the controller as the chart does, and waits until it listens. */
  startController(...flags: readonly string[]): Promise<Server & { failed: Promise<never> }> {
    return launchProgram(
      depotArguments('controller'),
      [
        ...this.upstreams.flags,
        '--kubeconfig',
        this.#kubeconfig,
        '--archives',
        this.archives,
        '--spool-dir',
        this.spool,
        '--admin-listen',
        '127.0.0.1:0',
        ...flags,
      ],
      { POD_NAMESPACE: 'depot-system' },
    )
  }

  /** Deletes the Lease of a holder that is known to be dead. */
  async forgetLease(): Promise<void> {
    const path = '/apis/coordination.k8s.io/v1/namespaces/depot-system/leases/depot-controller'
    await this.plane.admin.send('DELETE', path)
  }

  async apply(kind: string, namespace: string, name: string, more: object): Promise<void> {
    const path = `${root}/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`
    const apiVersion = 'depot.internal/v1alpha1'
    const metadata = { name, namespace, ...('metadata' in more && (more.metadata as object)) }
    await this.plane.admin.apply(path, { ...more, apiVersion, kind, metadata }, 'kubectl')
  }

  async list(kind: string, namespace: string): Promise<readonly Object[]> {
    const path = `${root}/namespaces/${namespace}/${kind.toLowerCase()}s`
    const { items } = (await this.plane.admin.request('GET', path)) as { items: readonly Object[] }
    return items
  }

  /** Waits until there are this many Versions and all of them are synced. */
  async untilSynced(namespace: string, count: number): Promise<readonly Object[]> {
    return vi.waitFor(
      async () => {
        const versions = await this.list('Version', namespace)
        const synced = versions.filter(({ status }) => status?.synced === true)
        if (synced.length === count && versions.length === count) return versions
        throw new Error(`${synced.length} of ${versions.length} Versions are synced, not ${count}`)
      },
      { timeout: 120_000, interval: 100 },
    )
  }

  /** The writes of this controller since a line of the audit log, except those to Leases. */
  writesSince(line: number): string[] {
    return this.audit()
      .slice(line)
      .filter(({ user: { username } }) => username === user)
      .filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
      .filter(({ requestURI }) => !requestURI.includes('/leases'))
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`)
  }

  audit(): Audited[] {
    const text = readFileSync(this.plane.auditLogFile, 'utf8').trim()
    return text.split('\n').map((line) => JSON.parse(line) as Audited)
  }

  /** Archives in storage, of one of its folders. A later write removes partial files of a kill. */
  stored(folder: string): string[] {
    return readdirSync(join(this.archives, folder), { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile() && !file.name.endsWith('.part'))
      .map((file) => join(file.parentPath, file.name).slice(join(this.archives, folder).length + 1))
      .toSorted()
  }

  async stop(): Promise<void> {
    await this.upstreams[Symbol.asyncDispose]()
    await this.plane.stop()
    rmSync(this.dir, { recursive: true, force: true })
  }
}
