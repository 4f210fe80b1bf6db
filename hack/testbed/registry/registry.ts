import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readKey } from 'openpgp'
import { stringify } from 'yaml'
import { generateSigningKey } from '../../../pkg/archives/signing/signing.ts'

const apiVersion = 'depot.internal/v1alpha1'

export interface ModuleOptions {
  readonly namespace?: string
  readonly name: string
  readonly system?: string
  readonly versions: readonly { version: string; fileName: string; checksum?: string }[]
}

export interface ProviderOptions {
  readonly namespace?: string
  readonly name: string
  readonly version: string
  /** As `os_arch`. */
  readonly platforms: Readonly<Record<string, { fileName: string; checksum?: string }>>
}

/** A folder of manifests and one of archives, for one server. */
export class Registry {
  readonly dir = mkdtempSync(join(tmpdir(), 'depot-e2e-'))
  readonly manifests = join(this.dir, 'manifests')
  readonly archives = join(this.dir, 'archives')
  signingKey: string | undefined
  /** Variables that its server gets besides those of this process. */
  readonly environment: Record<string, string> = {}

  constructor() {
    mkdirSync(this.manifests)
    mkdirSync(this.archives)
  }

  /** Makes a signing key. */
  async sign(): Promise<this> {
    const privateKey = await generateSigningKey({ name: 'Depot e2e', email: 'e2e@example.com' })
    this.signingKey = join(this.dir, 'signing-key.asc')
    writeFileSync(this.signingKey, privateKey, { mode: 0o600 })
    return this
  }

  /** The long id of the signing key, as CLIs print it. */
  async keyId(): Promise<string> {
    const key = await readKey({ armoredKey: readFileSync(this.signingKey ?? '', 'utf8') })
    return key.getKeyID().toHex().toUpperCase()
  }

  /** Writes a file of manifests at once, as an editor that renames does. */
  write(file: string, objects: readonly object[]): void {
    this.writeText(file, objects.map((object) => stringify(object)).join('---\n'))
  }

  writeText(file: string, text: string): void {
    const path = join(this.manifests, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }

  /** @param path `modules/NAME/FILE` or `providers/NAME/FILE` */
  archive(path: string, content: Buffer): void {
    const file = join(this.archives, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }
}

/** A module and its Versions, as manifests. */
export function moduleObjects({
  namespace = 'platform',
  name,
  system,
  versions,
}: ModuleOptions): object[] {
  const storageConfig = { fileSystem: { directoryPath: 'modules' } }
  return [
    {
      apiVersion,
      kind: 'Module',
      metadata: { name, namespace },
      spec: { moduleConfig: { ...(system !== undefined && { provider: system }), storageConfig } },
    },
    ...versions.map(({ version, fileName, checksum }) => ({
      apiVersion,
      kind: 'Version',
      metadata: { name: `${name}-${version}`, namespace },
      spec: { type: 'Module', version, fileName, moduleConfigRef: { name } },
      ...(checksum !== undefined && { status: { checksum, synced: true } }),
    })),
  ]
}

/** A provider and the Versions of one of its versions, as manifests. */
export function providerObjects({
  namespace = 'platform',
  name,
  version,
  platforms,
}: ProviderOptions): object[] {
  const storageConfig = { fileSystem: { directoryPath: 'providers' } }
  return [
    {
      apiVersion,
      kind: 'Provider',
      metadata: { name, namespace },
      spec: { providerConfig: { storageConfig } },
    },
    ...Object.entries(platforms).map(([platform, { fileName, checksum }]) => ({
      apiVersion,
      kind: 'Version',
      metadata: { name: `${name}-${version}-${platform.replace('_', '-')}`, namespace },
      spec: {
        type: 'Provider',
        version,
        fileName,
        operatingSystem: platform.split('_')[0],
        architecture: platform.split('_')[1],
        providerConfigRef: { name },
      },
      ...(checksum !== undefined && { status: { checksum, synced: true } }),
    })),
  ]
}

/** The same size, one bit of it changed. */
export function flipped(archive: Buffer): Buffer {
  const copy = Buffer.from(archive)
  const middle = archive.length >> 1
  copy.writeUInt8(copy.readUInt8(middle) ^ 1, middle)
  return copy
}
