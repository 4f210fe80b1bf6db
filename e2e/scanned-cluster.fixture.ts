import { hash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { depotArguments } from '../hack/testbed/program/command.ts'
import { launchProgram, type Server } from '../hack/testbed/server/server.ts'
import type { ScanPolicy, Version } from '../pkg/api/v1alpha1/v1alpha1.ts'
import { zipOf } from '../pkg/archives/archive/packed.fixture.ts'

const resources = '/apis/depot.internal/v1alpha1/namespaces/team/versions'

/** A cluster with Versions of modules whose archives are in a folder, and `depot scanner` with a script of the test. */
export class ScannedCluster {
  /** All files of the test are here. */
  readonly dir: string
  readonly plane: ControlPlane
  readonly #running = new Set<Server>()
  #kubeconfig = ''

  private constructor(dir: string, plane: ControlPlane) {
    this.dir = dir
    this.plane = plane
  }

  /** Scanners may do everything there, until another kubeconfig is set. */
  static async open(): Promise<ScannedCluster> {
    const plane = await startControlPlane({ users: { scanner: ['system:masters'] } })
    const cluster = new ScannedCluster(mkdtempSync(join(tmpdir(), 'depot-scanned-')), plane)
    await plane.admin.request('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
    await applyManifests(plane.admin, 'config/crd/bases')
    cluster.#kubeconfig = await plane.kubeconfig({ user: 'scanner' })
    return cluster
  }

  /** Gives scanners that start from now on the rights of a service account. */
  async as(namespace: string, account: string): Promise<void> {
    const token = await this.plane.serviceAccountToken(namespace, account)
    this.#kubeconfig = await this.plane.kubeconfig({ token })
  }

  path(name: string): string {
    return join(this.dir, name)
  }

  /** Writes a script of Node as the scanner. It finds node:fs as `fs`, and the text of the module as `text`. */
  script(script: string): void {
    const lines = [
      `#!${process.execPath}`,
      `const fs = require('node:fs')`,
      `const text = fs.readFileSync(process.argv[3] + '/main.tf', 'utf8').trim()`,
      script,
    ]
    writeFileSync(this.path('scanner'), `${lines.join('\n')}\n`)
    chmodSync(this.path('scanner'), 0o755)
  }

  /** Gives a Version an archive with a text. @returns its digest */
  async store(name: string, text: string, scanPolicy?: ScanPolicy): Promise<string> {
    const bytes = await zipOf([{ path: 'main.tf', content: text }])
    const sha256 = hash('sha256', bytes)
    const fileName = `${name}-${sha256.slice(0, 12)}.zip`
    mkdirSync(this.path(`archives/stored/${name}`), { recursive: true })
    writeFileSync(this.path(`archives/stored/${name}/${fileName}`), bytes)
    const storageConfig = { fileSystem: { directoryPath: 'stored' } }
    await this.plane.admin.apply(`${resources}/${name}`, {
      apiVersion: 'depot.internal/v1alpha1',
      kind: 'Version',
      metadata: { namespace: 'team', name },
      spec: {
        type: 'Module',
        version: '1.0.0',
        upload: { fileName, sha256 },
        moduleConfigRef: {
          name,
          provider: 'aws',
          storageConfig,
          ...(scanPolicy && { scanPolicy }),
        },
      },
    })
    return sha256
  }

  async start(work = 'work', flags: Readonly<Record<string, string>> = {}): Promise<Server> {
    const all = {
      kubeconfig: this.#kubeconfig,
      'admin-listen': '127.0.0.1:0',
      archives: this.path('archives'),
      'work-dir': this.path(work),
      scanner: 'exec',
      'scanner-command': this.path('scanner'),
      ...flags,
    }
    const args = Object.entries(all).map(([flag, value]) => `--${flag}=${value}`)
    const server = await launchProgram(depotArguments('scanner'), args, {})
    this.#running.add(server)
    return server
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((server) => server.stop()))
    this.#running.clear()
  }

  async versions(): Promise<readonly Version[]> {
    const { items } = (await this.plane.admin.request('GET', resources)) as { items: Version[] }
    return items
  }

  async version(name: string): Promise<Version> {
    return (await this.plane.admin.request('GET', `${resources}/${name}`)) as Version
  }

  async status(name: string): Promise<NonNullable<Version['status']>> {
    return (await this.version(name)).status ?? {}
  }

  async remove(name: string): Promise<void> {
    await this.plane.admin.request('DELETE', `${resources}/${name}`)
  }

  async close(): Promise<void> {
    await this.stop()
    await this.plane.stop()
    rmSync(this.dir, { recursive: true })
  }
}

/** Number of Versions that a scanner has looked at since its start. */
export async function looksOf({ adminUrl }: Server): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  return Number(/depot_sync_duration_seconds_count\{kind="Scan"\} (\d+)/.exec(text)?.[1] ?? 0)
}
