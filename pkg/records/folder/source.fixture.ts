import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Registry } from 'prom-client'
import { RecordingSink } from '../../../hack/testbed/recording-sink.ts'
import type { Resource } from '../../api/v1alpha1/v1alpha1.ts'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { pathOf } from './archive-state.ts'
import { type ArchiveProbe, FolderReadmes, type ManifestOptions, watchManifests } from './folder.ts'
import { isGone } from './tree.ts'

type Fields = Readonly<Record<string, unknown>>

/** Content of a sink, by kind and name, because tests of one folder have few namespaces. */
function seenBy(sink: RecordingSink) {
  const nameOf = ({ kind, metadata }: Resource) => `${kind} ${metadata.name}`
  return {
    get objects(): ReadonlyMap<string, Resource> {
      return new Map(Array.from(sink.resources, (resource) => [nameOf(resource), resource]))
    },
    get names(): string[] {
      return Array.from(sink.resources, nameOf).toSorted()
    },
    get changes(): string[] {
      return sink.changes.map((change) =>
        change.type === 'upsert'
          ? `upsert ${nameOf(change.resource)}`
          : `delete ${change.kind} ${change.name}`,
      )
    },
  }
}

/** Reads archives below a folder, with nothing but node:fs. */
function folderProbe(root: string): ArchiveProbe {
  const at = async (path: string) => {
    const { size, ino, mtimeNs } = await stat(path, { bigint: true })
    return { sizeBytes: Number(size), fingerprint: `${ino} ${size} ${mtimeNs}` }
  }
  return {
    async stat(location) {
      try {
        return await at(join(root, pathOf(location)))
      } catch (error) {
        if (isGone(error)) return undefined
        throw error
      }
    },
    async digest(location) {
      const path = join(root, pathOf(location))
      const before = await at(path)
      const sha256 = createHash('sha256')
        .update(await readFile(path))
        .digest('hex')
      return { ...before, sha256 }
    },
  }
}

/** A source over a new folder, with everything that tests observe. `await using` stops and removes it. */
export async function startSource(
  files: Readonly<Record<string, string | Uint8Array>>,
  options: Partial<ManifestOptions> = {},
) {
  const root = await mkdtemp(join(tmpdir(), 'depot-manifests-'))
  const dir = join(root, 'manifests')
  const archives = join(root, 'archives')
  await mkdir(dir)
  const write = async (path: string, text: string | Uint8Array) => {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), text)
  }
  for (const [path, text] of Object.entries(files)) {
    await write(path, text)
  }
  const lines: Fields[] = []
  const log = createLogger('debug', {
    write: (line) => {
      lines.push(JSON.parse(line) as Fields)
    },
  })
  const metrics = new Registry()
  const sink = new RecordingSink()
  const probe = folderProbe(archives)
  const apiGroup = 'depot.internal'
  const readmes = new FolderReadmes()
  const given = { dir, apiGroup, sink, readmes, probe, log, metrics, ...options }
  const source = await watchManifests(given)
  return {
    dir,
    archives,
    sink: seenBy(sink),
    readmes,
    write,
    /** Creates it for another source. */
    metrics,
    options: () => ({ apiGroup, sink, probe, log, metrics: new Registry() }),
    logged: (message: string) => lines.filter(({ msg }) => msg === message),
    /** Lists series that are not zero. */
    async rejected(): Promise<string[]> {
      const text = await metrics.getSingleMetricAsString('depot_catalog_rejected_objects')
      return text
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#') && !line.endsWith(' 0'))
        .map((line) => line.replace('depot_catalog_rejected_objects', ''))
    },
    async [Symbol.asyncDispose]() {
      await source.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

export function moduleText(name: string, system = 'aws'): string {
  return `apiVersion: depot.internal/v1alpha1
kind: Module
metadata:
  name: ${name}
spec:
  moduleConfig:
    provider: ${system}
    storageConfig:
      fileSystem:
        directoryPath: modules
`
}

export function versionText(module: string, version: string, status = ''): string {
  return `apiVersion: depot.internal/v1alpha1
kind: Version
metadata:
  name: ${module}-${version}
spec:
  type: Module
  version: ${version}
  fileName: ${module}-${version}.zip
  moduleConfigRef:
    name: ${module}
${status}`
}
