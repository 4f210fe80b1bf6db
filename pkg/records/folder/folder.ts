/**
 * Reads a folder of manifests: parses files with the place of each mistake, compares the folder with what it saw last, and
 * hands on the difference. Writing to the folder is the business of pkg/records/store and pkg/fill/importing.
 */

import { basename, resolve } from 'node:path'
import { watch } from 'chokidar'
import type { ResourceSink } from '../../api/v1alpha1/v1alpha1.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { ArchiveProbe } from './archive-state.ts'
import type { FolderReadmes } from './readme.ts'
import { Scanner } from './scanner.ts'
import { codeOf } from './tree.ts'

export type { ArchiveProbe } from './archive-state.ts'
export {
  documentsOf,
  type FieldPath,
  joinedDocuments,
  parseJson,
  parseYaml,
} from './documents.ts'
export { objectsIn } from './objects.ts'
export { readManifests } from './read-manifests.ts'
export { decodeText, readText } from './read-text.ts'
export { walk } from './tree.ts'

export interface ManifestOptions {
  /** Folder of the manifests: every `*.yaml`, `*.yml` and `*.json` below it. */
  readonly dir: string
  /** API group of the five kinds; objects of others are ignored. */
  readonly apiGroup: string
  /** The one namespace whose GroupBindings count; what others have is logged. Default: nothing is said. */
  readonly namespace?: string | undefined
  readonly sink: ResourceSink
  /** Reads archives on the filesystem backend, for Versions that carry no checksum. */
  readonly probe: ArchiveProbe
  readonly log: Logger
  readonly metrics: Metrics
  /**
   * Whether a folder that is found empty all at once means that there is nothing to serve. Default false: it is taken for
   * a volume that is not mounted, and what was served stays.
   */
  readonly allowEmpty?: boolean
  /** How long the start waits for archives to be hashed, in milliseconds. Default 30000; 0 does not wait. */
  readonly firstDigestsMs?: number
}

export interface ManifestSource {
  /** READMEs of module versions: the ConfigMaps of the folder. */
  readonly readmes: FolderReadmes
  /** Stops watching; resolves when nothing is handed on any more. */
  close(): Promise<void>
}

/** Several events that belong together cause one scan. */
const debounceMs = 50

/**
 * Takes resources from a folder of manifests instead of a cluster, and keeps the sink in step with it: changes arrive
 * within a second. What is broken is left out, logged and counted, and what was served of it stays.
 *
 * @returns when the sink holds everything, and what archives there are were hashed or `firstDigestsMs` is over
 * @throws RegistryError NotConfigured where the folder cannot be read
 */
export async function watchManifests(options: ManifestOptions): Promise<ManifestSource> {
  const dir = resolve(options.dir)
  const log = options.log.child({ component: 'manifests' })
  const scanner = new Scanner({ allowEmpty: false, ...options, dir, log })
  // Events only ask for a scan, and scans are made without them too: so none needs to be complete or right.
  const watcher = watch(dir, {
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (path) => path !== dir && /^\.(?!\.)/.test(basename(path)),
  })
  watcher.on('all', () => scanner.schedule(debounceMs))
  watcher.on('error', (err) => log.warn({ err }, 'watching failed, changes may take longer'))
  const close = async () => {
    await Promise.all([watcher.close(), scanner.close()])
  }
  try {
    await scanner.start(options.firstDigestsMs ?? 30_000)
  } catch (error) {
    await close()
    const problem = problems[codeOf(error) ?? ''] ?? 'cannot be read'
    const message = `manifests folder ${dir} ${problem}; correct --manifests`
    throw new RegistryError('NotConfigured', message, { cause: error })
  }
  return { readmes: scanner.readmes, close }
}

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a folder',
  EACCES: 'may not be read by this user',
}
