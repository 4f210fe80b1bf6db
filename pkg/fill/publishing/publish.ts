import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import {
  configRefOf,
  docsFileName,
  formatPath,
  problemsIn,
  type ReleasedPlatforms,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { PackedDocs } from '../../archives/docs/docs.ts'
import type { ArchivePlace, LocalFile } from '../../archives/storage/storage.ts'
import { hasReason, mayPass, ReasonError, unavailable } from '../../base/errors/errors.ts'
import { readmeRefOf } from '../../records/readme/readme.ts'
import { FillError, type Platform } from '../sources/sources.ts'
import { freeName, nameFor, notePublication, storeFile, storeSmall } from '../sync/sync.ts'
import type { Publication, PublishContext } from './plan.ts'
import { claimsOf, conflictOf, publishedAs, type Target } from './target.ts'

/** An archive to publish, with the documentation that is stored next to it. */
export interface PublishedArchive {
  readonly file: LocalFile
  /** Name in storage. */
  readonly fileName: string
  readonly contentDigest?: string
  readonly docs: PackedDocs | undefined
  /** Providers only. */
  readonly platform?: Platform
  readonly protocols?: readonly string[] | undefined
}

/**
 * Stores the archive, then creates the Module if it is missing, then the Version. A kill leaves at most an archive that
 * nothing names, or a Module without this version; the next run goes on from there.
 *
 * @returns `exists` if the version was served with these files before
 * @throws FillError why it is refused; RegistryError, ApiError
 */
export async function publish(
  context: PublishContext,
  publication: Publication,
): Promise<'published' | 'exists'> {
  const { refusals, target, place, archive, isThere, fileName, docs } = publication
  const [refusal] = refusals
  if (refusal !== undefined) throw refusal
  const { file: path, sha256, sizeBytes, contentDigest } = archive
  const published = { file: { path, sha256, sizeBytes }, fileName, contentDigest, docs }
  if (!isThere) {
    requireWritable(target, published)
    await storeArchive(context, place, published)
  }
  const wasMissing = await createParent(context, target)
  const outcome = isThere ? 'exists' : await createVersion(context, target, published)
  await completeReadme(context, publication)
  return wasMissing ? 'published' : outcome
}

/** Stores an archive and its documentation, and reads them back. */
export async function storeArchive(
  { signal, workDir }: PublishContext,
  place: ArchivePlace,
  { file, fileName, docs }: PublishedArchive,
): Promise<void> {
  await storeFile(place, fileName, file, signal)
  if (docs === undefined) return
  const small = { ...docs, fileName: docsFileName(fileName, file.sha256) }
  await storeSmall(place, small, join(workDir, randomUUID()), signal)
}

/**
 * Creates the Module or Provider if it is missing. If something else took its name meanwhile, it gets another name, for
 * which a caller over HTTP has to ask again, because the right is that of the name.
 *
 * @returns whether this process created it
 * @throws RegistryError Unavailable; ApiError
 */
export async function createParent(
  { objects, publisher }: PublishContext,
  target: Target,
): Promise<boolean> {
  if (!target.isMissing) return false
  const { kind, address, parent } = target
  const { name: readable, namespace } = parent.metadata
  const create = async (name: string): Promise<boolean> => {
    try {
      await objects.create({ kind, metadata: { name, namespace }, spec: parent.spec })
      return true
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error
      await objects.fresh(kind, namespace, name)
      if (claimsOf(objects, address).length > 0) return false
      if (publisher !== undefined) {
        throw unavailable(`the name ${name} was taken by another ${kind}`, error)
      }
      const distinct = freeName(readable, JSON.stringify(address), () => true)
      if (name === distinct) throw error
      return create(distinct)
    }
  }
  return create(readable)
}

/** The release that a Version belongs to. */
interface OfRelease {
  readonly release?: ReleasedPlatforms | undefined
  /**
   * Set for the first Version of a release: its name is that of the version, without a platform. So the API server takes one
   * of several releases. Throws if another one was started.
   */
  readonly claim?: (() => void) | undefined
}

/** Fields of a Version about its publication. */
interface Together {
  readonly publication?: string | undefined
  readonly release?: ReleasedPlatforms | undefined
}

/** The desired state of the Version of an archive. */
function specOf(
  target: Target,
  { file, fileName, contentDigest, docs, platform, protocols }: PublishedArchive,
  { publication, release }: Together = {},
): object {
  const { kind: type, version } = target
  const { sha256, sizeBytes } = file
  const { os, arch } = platform ?? {}
  return {
    type,
    version,
    ...(platform && { operatingSystem: os, architecture: arch }),
    ...(protocols?.length && { protocols }),
    [configRefOf[type]]: configRef(target),
    upload: {
      fileName,
      sha256,
      sizeBytes,
      ...(contentDigest && { contentDigest }),
      ...(publication && { publication }),
      ...(docs && { docs: { sha256: docs.sha256, sizeBytes: docs.sizeBytes } }),
      ...(release && { release }),
    },
  }
}

/**
 * Refuses what no API server would take, such as the platform linux_aarch64, before anything is stored.
 *
 * @throws FillError InvalidSpec
 */
export function requireWritable(target: Target, archive: PublishedArchive): void {
  const { namespace } = target.parent.metadata
  const metadata = { name: 'any', namespace }
  const mistakes = problemsIn('Version', { metadata, spec: specOf(target, archive) })
  if (mistakes.length === 0) return
  const issues = mistakes.map(({ path, message }) => `${formatPath(path)} ${message}`)
  throw new FillError(
    'InvalidSpec',
    `${archive.fileName} cannot be published: ${issues.join('; ')}`,
  )
}

const attempts = 3

/**
 * Creates the Version of a stored archive.
 *
 * @throws FillError VersionExists; ApiError; what `claim` throws
 */
export async function createVersion(
  context: PublishContext,
  target: Target,
  archive: PublishedArchive,
  { release, claim }: OfRelease = {},
): Promise<'published' | 'exists'> {
  const { objects } = context
  const { parent, version, config, kind: type } = target
  const { namespace } = parent.metadata
  const { contentDigest, platform } = archive
  const { sha256 } = archive.file
  const digests = { sha256, contentDigest, platform }
  const desired = { version, spelled: version, ...(claim === undefined && platform) }
  for (let attempt = 1; ; attempt += 1) {
    // Another process may have been faster while the archive was stored.
    claim?.()
    const conflict = conflictOf(target, digests)
    if (conflict !== undefined) throw conflict
    if (publishedAs(target, digests) !== undefined) return 'exists'
    const name = nameFor(context, parent, { type, config }, desired)
    const { publisher } = context
    const notes = publisher && objects.publications
    const noted = { namespace, name, version, config: config.name, sha256 }
    const publication = notes && (await notePublication(notes, noted, publisher, context.clock))
    try {
      await objects.create({
        kind: 'Version',
        metadata: { name, namespace },
        spec: specOf(target, archive, { publication, release }),
      })
      return 'published'
    } catch (error) {
      // After a temporary error, the Version may exist all the same, and then it needs its note.
      const isRefused = error instanceof ReasonError && !mayPass(error.reason)
      if (publication !== undefined && isRefused) {
        await notes?.drop(publication).catch(() => undefined)
      }
      if (!hasReason(error, 'AlreadyExists') || attempt === attempts) throw error
      await objects.fresh('Version', namespace, name)
    }
  }
}

/** The part of the config that finds the parent and the archive; the rest is that of the parent. */
function configRef({ config, kind }: Target): object {
  const { name, provider, storageConfig } = config
  return { name, ...(kind === 'Module' && provider && { provider }), storageConfig }
}

/** A controller writes the README from the documentation; a folder may have none. One that a person named stays. */
async function completeReadme(
  { objects }: PublishContext,
  { target, archive, docs }: Publication,
): Promise<void> {
  const readme = docs.root?.readme
  if (!objects.isFolder || !readme?.trim()) return
  const object = publishedAs(target, archive)?.object
  if (object === undefined) return
  const ref = readmeRefOf(object.metadata)
  const status = object.status as { readonly readmeConfigMapRef?: typeof ref } | undefined
  if ((status?.readmeConfigMapRef?.name ?? ref.name) !== ref.name) return
  if (await objects.hasReadme(object, [ref.key])) return
  await objects.writeReadme(object, { readme })
  const written = { readmeConfigMapRef: ref, readmeDocs: docs.sha256 }
  await objects.writeStatus(object, { ...status, ...written })
}
