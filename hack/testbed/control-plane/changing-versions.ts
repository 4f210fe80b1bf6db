import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from './control-plane.ts'

const apiVersion = 'depot.internal/v1alpha1'
const versionsEach = 20

/** The fields of one archive that a registry shows. */
export interface Archive {
  readonly version: string
  readonly fileName: string
  readonly checksum: string
  readonly archiveSizeBytes: number
}

interface VersionObject {
  readonly spec: {
    readonly version: string
    readonly fileName: string
    readonly moduleConfigRef: { readonly name: string }
  }
  readonly status?: { readonly checksum?: string; readonly archiveSizeBytes?: number }
}

/** Modules in a cluster whose Versions are added, changed and deleted. */
export class ChangingVersions {
  readonly namespace = 'changing'
  readonly modules = Array.from({ length: 10 }, (_, index) => `module-${index}`)
  readonly #cluster: ControlPlane
  #written = 0
  #step = 0

  constructor(cluster: ControlPlane) {
    this.#cluster = cluster
  }

  /** Changes that the cluster accepted. */
  get written(): number {
    return this.#written
  }

  async prepare(): Promise<void> {
    const { admin } = this.#cluster
    const metadata = { name: this.namespace }
    await admin.request('POST', '/api/v1/namespaces', { metadata })
    const storageConfig = { fileSystem: { directoryPath: 'modules' } }
    for (const name of this.modules) {
      await admin.apply(this.#path('modules', name), {
        apiVersion,
        kind: 'Module',
        metadata: { name },
        spec: { moduleConfig: { provider: 'aws', storageConfig } },
      })
      for (let minor = 0; minor < versionsEach; minor += 2) await this.#put(name, minor)
    }
  }

  /** About fifty changes a second until the signal says stop; changes that the cluster refuses are dropped. */
  async write(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#change().catch(() => undefined)
      await sleep(25)
    }
  }

  /** Lists the archives of each module from the cluster, newest first. */
  async list(): Promise<Record<string, Archive[]>> {
    const answer = await this.#cluster.admin.request('GET', this.#path('versions', ''))
    const { items } = answer as { items: VersionObject[] }
    const found = Object.fromEntries(this.modules.map((name): [string, Archive[]] => [name, []]))
    for (const { spec, status } of items) {
      found[spec.moduleConfigRef.name]?.push({
        version: spec.version,
        fileName: spec.fileName,
        checksum: status?.checksum ?? '',
        archiveSizeBytes: status?.archiveSizeBytes ?? 0,
      })
    }
    for (const archives of Object.values(found)) {
      archives.sort((a, b) => minorOf(b) - minorOf(a))
    }
    return found
  }

  /** Writes a Version as a user does, then its status as a controller does. */
  async release(module: string, version: string, fileName: string, status: object): Promise<void> {
    const { admin } = this.#cluster
    const head = { apiVersion, kind: 'Version', metadata: { name: `${module}-${version}` } }
    const path = this.#path('versions', head.metadata.name)
    const spec = { type: 'Module', version, fileName, moduleConfigRef: { name: module } }
    await admin.apply(path, { ...head, spec })
    this.#written += 1
    await admin.apply(`${path}/status`, { ...head, status }, 'controller')
    this.#written += 1
  }

  async remove(module: string, version: string): Promise<void> {
    const path = this.#path('versions', `${module}-${version}`)
    const { status } = await this.#cluster.admin.send('DELETE', path)
    if (status < 300) this.#written += 1
  }

  async #change(): Promise<void> {
    this.#step += 1
    const module = this.modules[(this.#step * 7) % this.modules.length] ?? ''
    const minor = Math.floor(this.#step / 3) % versionsEach
    if (this.#step % 4 === 0) await this.remove(module, `1.${minor}.0`)
    else await this.#put(module, minor)
  }

  /** Each one is different, so that an old one differs from a new one. */
  async #put(module: string, minor: number): Promise<void> {
    const fileName = `${module}-1.${minor}.0-${this.#step}.zip`
    const checksum = createHash('sha256').update(fileName).digest('hex')
    const status = { checksum, archiveSizeBytes: this.#step, synced: true }
    await this.release(module, `1.${minor}.0`, fileName, status)
  }

  #path(plural: string, name: string): string {
    return `/apis/${apiVersion}/namespaces/${this.namespace}/${plural}${name && `/${name}`}`
  }
}

const minorOf = ({ version }: Archive): number => Number(version.split('.')[1])
