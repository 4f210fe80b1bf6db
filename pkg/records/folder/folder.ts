/**
 * Reads a folder of manifests: parses files with the position of each mistake, compares the folder with its last state, and
 * passes the difference to the catalog of a server or to the store of `depot sync`.
 */

import { resolve } from 'node:path'
import { JsonReader, type ResourceSink } from '../../api/v1alpha1/v1alpha1.ts'
import { codeOf, RegistryError } from '../../base/errors/errors.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { ArchiveProbe } from './archive-state.ts'
import { CatalogFeed } from './catalog-feed.ts'
import { resourceKeeper } from './keeper.ts'
import type { FolderReadmes } from './readme.ts'
import { Scanner } from './scanner.ts'

export type { ArchiveProbe } from './archive-state.ts'
export { idOf, type Resolution } from './definitions.ts'
export {
  documentsOf,
  type FieldPath,
  joinedDocuments,
  parseJson,
  parseYaml,
} from './documents.ts'
export type { Keeper } from './keeper.ts'
export type { ManifestFile, Written } from './manifest-file.ts'
export { readKept, readManifests } from './read-manifests.ts'
export { objectsIn } from './read-object.ts'
export { FolderReadmes } from './readme.ts'
export { type Rejection, rejectionLine } from './rejections.ts'
export { Scanner } from './scanner.ts'
export { changedAtMs, decodeText, identityOf, signatureOf } from './tree.ts'

/** A server follows the files: an object is removed when it is in no file, unless files are just changing. */
const absence = { restMs: 0, patienceMs: 2_000 }

export interface ManifestOptions {
  /** Folder of the manifests: every `*.yaml`, `*.yml` and `*.json` below it. */
  readonly dir: string
  /** API group of the five kinds; objects of others are ignored. */
  readonly apiGroup: string
  /** The only namespace whose GroupBindings count. Those of others are logged. Default: nothing is logged. */
  readonly namespace?: string | undefined
  readonly sink: ResourceSink
  /** Receives the READMEs of module versions. Default: they are not kept. */
  readonly readmes?: FolderReadmes
  /** Reads archives on the filesystem backend, for Versions without a checksum. */
  readonly probe: ArchiveProbe
  readonly log: Logger
  readonly metrics: Metrics
  /**
   * Serve nothing if the folder suddenly becomes empty. Default false: it counts as a volume that is not mounted, and the
   * previous objects stay.
   */
  readonly allowEmpty?: boolean
  /** Limit of the wait for archive digests at start, in milliseconds. Default 30000; 0 does not wait. */
  readonly firstDigestsMs?: number
}

export interface ManifestSource {
  /** Stops watching. Resolves when nothing is passed on any more. */
  close(): Promise<void>
}

/**
 * Reads resources from a folder of manifests instead of a cluster, and keeps the sink up to date: changes arrive within a
 * second. Broken objects are left out, logged and counted, and their last valid state is still served.
 *
 * @returns when the sink has everything, and existing archives were hashed or `firstDigestsMs` is over
 * @throws RegistryError NotConfigured if the folder cannot be read
 */
export async function watchManifests(options: ManifestOptions): Promise<ManifestSource> {
  const { apiGroup, namespace, sink, readmes, probe, metrics } = options
  const startMs = performance.now()
  const dir = resolve(options.dir)
  const log = options.log.child({ component: 'manifests' })
  const scanner = new Scanner({
    dir,
    apiGroup,
    namespace,
    // No limit, because findings are compared with those of the last reading, which must have the same form.
    keeper: resourceKeeper(new JsonReader(Number.POSITIVE_INFINITY)),
    absence,
    emptyHint:
      options.allowEmpty === true
        ? undefined
        : 'start with --allow-empty-manifests if it is meant to be empty',
    take: (changes, readMs) => feed.take(changes, readMs),
    onExtras: (file, extras) => readmes?.set(file, extras),
    log,
    metrics,
  })
  const { definitions, rejections } = scanner
  const feed = new CatalogFeed({ sink, probe, definitions, log, metrics })
  try {
    await feed.load(await scanner.load(), options.firstDigestsMs ?? 30_000)
  } catch (error) {
    await feed.close()
    const problem = problems[codeOf(error)] ?? 'cannot be read'
    const message = `manifests folder ${dir} ${problem}; correct --manifests`
    throw new RegistryError('NotConfigured', message, { cause: error })
  }
  const durationMs = Math.round(performance.now() - startMs)
  const counts = { files: scanner.files, objects: definitions.size, rejected: rejections.count }
  log.info({ ...counts, durationMs }, 'manifests loaded')
  const stop = scanner.follow()
  return {
    async close() {
      await Promise.all([stop(), feed.close()])
    },
  }
}

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a folder',
  EACCES: 'may not be read by this user',
}
