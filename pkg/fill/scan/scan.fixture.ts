import { hash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  conditionOf,
  type ScanPolicy,
  sourceFileName,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import { defaultLimits, packFiles } from '../../archives/archive/archive.ts'
import { type Packed, zipOf } from '../../archives/archive/packed.fixture.ts'
import { openSpool, type Spool } from '../../archives/spool/spool.ts'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { type FolderObjects, folderObjects, type Objects } from '../../records/store/store.ts'
import { execScanner, type ScanOptions, type Scans, startScans } from './scan.ts'

const storageConfig = { fileSystem: { directoryPath: 'stored' } }

/** Versions and archives in a folder, and a scanner that is a script of the test. */
export class ScanScene {
  readonly folder: string
  /** Milliseconds that the clock is ahead. */
  aheadMs = 0
  readonly #spool: Spool
  #objects: FolderObjects | undefined
  #scans: Scans | undefined

  private constructor(folder: string, spool: Spool) {
    this.folder = folder
    this.#spool = spool
  }

  static async open(): Promise<ScanScene> {
    const folder = await mkdtemp(join(tmpdir(), 'depot-scan-'))
    await mkdir(join(folder, 'manifests'))
    const spool = await openSpool({ dir: join(folder, 'spool'), sizeBytes: 2 ** 30 })
    return new ScanScene(folder, spool)
  }

  get workDir(): string {
    return join(this.folder, 'work')
  }

  /** Writes a script of Node as the scanner. It finds `target` and `folder`, and all of node:fs as `fs`. */
  async scanner(script: string): Promise<string> {
    const path = join(this.folder, 'scanner')
    const text = `#!${process.execPath}
const fs = require('node:fs')
const { spawn } = require('node:child_process')
const [, , target, folder] = process.argv
const print = (findings) => fs.writeSync(1, JSON.stringify(findings))
${script}
`
    await writeFile(path, text)
    await chmod(path, 0o755)
    return path
  }

  /** Stores an archive, and writes a Version for it. @returns its digest */
  async store(
    name: string,
    entries: readonly Packed[],
    {
      scanPolicy,
      ...spec
    }: { readonly type: 'Module' | 'Provider'; readonly scanPolicy?: ScanPolicy } = {
      type: 'Module',
    },
  ): Promise<string> {
    const bytes = await zipOf(entries)
    const sha256 = hash('sha256', bytes)
    const fileName = spec.type === 'Module' ? `${name}.zip` : `terraform-provider-${name}_1.0.0.zip`
    const path = join(this.folder, 'archives/stored', name, fileName)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, bytes)
    const config = { name, storageConfig, ...(scanPolicy && { scanPolicy }) }
    const platform = { operatingSystem: 'linux', architecture: 'amd64' }
    await this.write(name, {
      version: '1.0.0',
      upload: { fileName, sha256 },
      ...(spec.type === 'Module' && { moduleConfigRef: { ...config, provider: 'aws' } }),
      ...(spec.type === 'Provider' && { providerConfigRef: config, ...platform }),
      ...spec,
    })
    return sha256
  }

  async write(name: string, spec: object, kind: 'Version' | 'Module' = 'Version'): Promise<void> {
    const manifest = {
      apiVersion: 'depot.internal/v1alpha1',
      kind,
      metadata: { name, namespace: 'team' },
      spec,
    }
    const file = kind === 'Version' ? name : `${kind}-${name}`
    await writeFile(join(this.folder, `manifests/${file}.json`), JSON.stringify(manifest))
  }

  /** Stores a provider, and next to its archive the go.mod of its source. @returns the digest of what holds that */
  async storeSource(
    name: string,
    goMod: string,
    {
      scanPolicy,
      source = {},
      isOld = false,
    }: {
      readonly scanPolicy?: ScanPolicy
      readonly source?: object
      /** Whether an earlier release stored it. */
      readonly isOld?: boolean
    } = {},
  ): Promise<string> {
    const packed = join(this.folder, 'source.zip')
    await rm(packed, { force: true })
    const { sha256, sizeBytes } = await packFiles(new Map([['go.mod', Buffer.from(goMod)]]), packed)
    const file = { path: `terraform-provider-${name}`, content: name }
    const archive = await this.store(name, [file], {
      type: 'Provider',
      ...(scanPolicy && { scanPolicy }),
    })
    const fileName = `terraform-provider-${name}_1.0.0.zip`
    const sourceName = sourceFileName(fileName, isOld ? archive : sha256)
    await rename(packed, join(this.folder, 'archives/stored', name, sourceName))
    const revision = 'v1.0.0@sha1:0'
    const repository = 'https://git.test/terraform-provider-random'
    const named = { sha256, sizeBytes, ...(!isOld && { fileName: sourceName }) }
    const kept = { repository, revision, ...('problem' in source ? {} : named) }
    await this.writeStatus(name, {
      checksum: archive,
      artifact: { fileName, sha256: archive, source: { ...kept, ...source } },
    })
    return sha256
  }

  async writeStatus(name: string, status: Version['status']): Promise<void> {
    const objects = await this.#open()
    const object = objects.get('Version', 'team', name)
    if (object === undefined) throw new Error(`there is no Version ${name}`)
    await objects.writeStatus(object, status ?? {})
    await objects.close()
  }

  /** Scans what has to be scanned, as a process does that starts and ends. */
  async run(
    options: Parameters<ScanScene['begin']>[0] = {},
  ): Promise<Pick<Scans, 'done' | 'failures'>> {
    const scans = await this.begin(options)
    await scans.idle()
    const { done } = scans
    const failures = scans.failures()
    await this.stop()
    return { done, failures: () => failures }
  }

  async begin({
    through = (objects) => objects,
    ...options
  }: Partial<ScanOptions> & {
    /** Changes what the scanner knows of the folder. */
    through?: (objects: Objects) => Objects
  } = {}): Promise<Scans> {
    await this.stop()
    const log = createLogger('silent')
    this.#objects = await this.#open()
    this.#scans = await startScans({
      objects: through(this.#objects),
      archives: openArchiveStore({ filesystemMountPath: join(this.folder, 'archives') }),
      spool: this.#spool,
      limits: defaultLimits,
      scanner: execScanner(join(this.folder, 'scanner')),
      workDir: this.workDir,
      slots: 1,
      deadlineMs: 60_000,
      isOffline: true,
      scansProviders: true,
      rescanMs: 24 * 3_600_000,
      log,
      metrics: createMetrics({ version: 'test' }),
      clock: () => Date.now() + this.aheadMs,
      ...options,
    })
    return this.#scans
  }

  #open(): Promise<FolderObjects> {
    const dir = join(this.folder, 'manifests')
    const log = createLogger('silent')
    return folderObjects({ dir, apiGroup: 'depot.internal', watch: false, log })
  }

  async stop(): Promise<void> {
    await this.#scans?.stop()
    await this.#objects?.close()
    this.#scans = undefined
    this.#objects = undefined
  }

  async close(): Promise<void> {
    await this.stop()
    await this.#spool.close()
    await rm(this.folder, { recursive: true })
  }

  /** The written status of a Version. */
  async status(name: string): Promise<NonNullable<Version['status']>> {
    const objects = await this.#open()
    const { status } = objects.get('Version', 'team', name) ?? {}
    await objects.close()
    return status ?? {}
  }

  async scanned(name: string) {
    const { status, reason, message } = conditionOf(await this.status(name), 'Scanned') ?? {}
    return { status, reason, message }
  }

  /** When the status of a Version was written. */
  async writtenAt(name: string): Promise<number> {
    return (await stat(join(this.folder, `manifests/${name}.status.yaml`))).mtimeMs
  }

  async text(path: string): Promise<string | undefined> {
    return readFile(join(this.folder, path), 'utf8').catch(() => undefined)
  }
}
