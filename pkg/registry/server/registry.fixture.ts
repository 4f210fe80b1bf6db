import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Kind, type ParentKind, parseResource } from '../../api/v1alpha1/v1alpha1.ts'
import { generateSigningKey, loadSigner, type Signer } from '../../archives/signing/signing.ts'
import { createArchives } from '../../archives/storage/storage.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { Catalog } from '../catalog/catalog.ts'
import { type App, type AppOptions, createApp } from './app.ts'

/** A real registry over real files, put together as servers have it: for tests of this package and of pkg/registry/protocol. */
export class Fixture implements Disposable {
  readonly dir = mkdtempSync(join(tmpdir(), 'depot-server-'))
  readonly catalog = new Catalog()
  readonly log = createLogger('silent')
  readonly metrics = createMetrics({ version: 'test' })
  readonly archives = createArchives({
    grants: { text: '*=*', annotation: 'depot.internal/storage' },
    filesystemMountPath: this.dir,
    log: this.log,
    metrics: this.metrics,
  })
  #signer: Signer | undefined

  app(options: Partial<AppOptions> = {}): App['routes'] {
    return createApp({
      catalog: this.catalog,
      archives: this.archives,
      signer: this.#signer,
      log: this.log,
      ...options,
    }).routes
  }

  async withSigner(): Promise<Signer> {
    const privateKeyPath = join(this.dir, 'key.asc')
    writeFileSync(
      privateKeyPath,
      await generateSigningKey({ name: 'Depot', email: 'depot@example.com' }),
    )
    this.#signer = await loadSigner({ privateKeyPath, log: this.log, metrics: this.metrics })
    return this.#signer
  }

  /** @param raw an object without metadata.namespace, which is `platform` */
  add(kind: Kind, name: string, raw: object, metadata: object = {}): void {
    const parsed = parseResource(kind, {
      metadata: { name, namespace: 'platform', ...metadata },
      ...raw,
    })
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    this.catalog.apply({ type: 'upsert', resource: parsed.resource })
  }

  module(name: string, config: object = {}): void {
    const moduleConfig = { provider: 'aws', storageConfig: storage('modules'), ...config }
    this.add('Module', name, { spec: { moduleConfig } })
  }

  provider(name: string, config: object = {}): void {
    const providerConfig = { storageConfig: storage('providers'), ...config }
    this.add('Provider', name, { spec: { providerConfig } })
  }

  /** A Version with its archive on disk; returns the digest in hexadecimal. */
  version(
    type: ParentKind,
    parent: string,
    version: string,
    { spec = {}, status = {}, content = `${parent} ${version}`, ...place }: VersionOptions = {},
  ): string {
    const suffix = spec.operatingSystem ? `_${spec.operatingSystem}_${spec.architecture}` : ''
    const { fileName = `${parent}_${version}${suffix}.zip` } = place
    const directory = type === 'Module' ? 'modules' : 'providers'
    this.write(join(directory, parent, fileName), content)
    const sha256 = createHash('sha256').update(content).digest('hex')
    this.add(
      'Version',
      `${parent}-${version}${suffix}`.toLowerCase().replaceAll(/[^a-z0-9.-]/g, '-'),
      {
        spec: { type, version, fileName, ...spec },
        status: {
          checksum: Buffer.from(sha256, 'hex').toString('base64'),
          synced: true,
          ...status,
        },
      },
      { ownerReferences: [{ apiVersion: 'depot.internal/v1alpha1', kind: type, name: parent }] },
    )
    return sha256
  }

  write(path: string, content: string | Buffer): void {
    const file = join(this.dir, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }

  [Symbol.dispose](): void {
    this.#signer?.close()
    rmSync(this.dir, { recursive: true })
  }
}

type VersionSpec = {
  readonly operatingSystem?: string
  readonly architecture?: string
  readonly protocols?: readonly string[]
  readonly lifecycle?: object
  readonly upload?: object
}

interface VersionOptions {
  readonly spec?: VersionSpec
  readonly status?: object
  readonly content?: string | Buffer
  readonly fileName?: string
}

const storage = (directoryPath: string) => ({ fileSystem: { directoryPath } })
