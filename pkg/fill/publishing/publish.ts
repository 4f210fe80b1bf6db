import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { docsFileName } from '../../api/v1alpha1/v1alpha1.ts'
import { hasReason } from '../../base/errors/errors.ts'
import { readmeRefOf } from '../../records/store/store.ts'
import { nameFor, storeFile } from '../sync/sync.ts'
import { conflictOf, type Publication, type PublishContext, publishedAs } from './plan.ts'
import type { Target } from './target.ts'

/**
 * Stores the archive, then creates the Module if it is missing, then the Version. A kill leaves at most an archive that
 * nothing names, or a Module without this version; the next run goes on from there.
 *
 * @returns `exists` if the version was published with these files before
 * @throws FillError why it is refused; RegistryError, ApiError
 */
export async function publish(
  context: PublishContext,
  publication: Publication,
): Promise<'published' | 'exists'> {
  const { refusals, target, place, archive, isThere, fileName } = publication
  const [refusal] = refusals
  if (refusal !== undefined) throw refusal
  if (!isThere) {
    const { file: path, sha256, sizeBytes } = archive
    await storeFile(place, fileName, { path, sha256, sizeBytes }, context.signal)
    await storeDocs(context, publication)
    await createModule(context, target)
  }
  const outcome = isThere ? 'exists' : await createVersion(context, publication)
  await completeReadme(context, publication)
  return outcome
}

async function storeDocs(
  { signal, workDir }: PublishContext,
  { place, archive, fileName, docs: { bytes, sha256, sizeBytes } }: Publication,
): Promise<void> {
  const path = join(workDir, randomUUID())
  try {
    await writeFile(path, bytes)
    const name = docsFileName(fileName, archive.sha256)
    await storeFile(place, name, { path, sha256, sizeBytes }, signal)
  } finally {
    await rm(path, { force: true })
  }
}

async function createModule({ objects }: PublishContext, target: Target): Promise<void> {
  if (!target.isMissing) return
  const { kind, metadata, spec } = target.parent
  const { name, namespace } = metadata
  await objects.create({ kind, metadata: { name, namespace }, spec }).catch((error: unknown) => {
    if (!hasReason(error, 'AlreadyExists')) throw error
  })
}

const attempts = 3

async function createVersion(
  context: PublishContext,
  { target, archive, docs, fileName }: Publication,
): Promise<'published' | 'exists'> {
  const { objects } = context
  const { parent, version, config } = target
  const { name: configName, provider, storageConfig } = config
  const { sha256, sizeBytes, contentDigest } = archive
  const { namespace } = parent.metadata
  for (let attempt = 1; ; attempt += 1) {
    const desired = { version, spelled: version }
    const name = nameFor(context, parent, { type: 'Module', config }, desired)
    try {
      await objects.create({
        kind: 'Version',
        metadata: { name, namespace },
        spec: {
          type: 'Module',
          version,
          moduleConfigRef: { name: configName, ...(provider && { provider }), storageConfig },
          upload: {
            fileName,
            sha256,
            sizeBytes,
            contentDigest,
            docs: { sha256: docs.sha256, sizeBytes: docs.sizeBytes },
          },
        },
      })
      return 'published'
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists') || attempt === attempts) throw error
      // Another process was faster.
      await objects.fresh('Version', namespace, name)
      const conflict = conflictOf(target, archive)
      if (conflict !== undefined) throw conflict
      if (publishedAs(target, archive) !== undefined) return 'exists'
    }
  }
}

/** A controller writes the README from the documentation; a folder may have none. */
async function completeReadme(
  { objects }: PublishContext,
  { target, archive, docs }: Publication,
): Promise<void> {
  const readme = docs.root?.readme
  if (!objects.isFolder || !readme?.trim()) return
  const object = publishedAs(target, archive)?.object
  if (object === undefined) return
  const ref = readmeRefOf(object.metadata)
  if (await objects.hasReadme(object, [ref.key])) return
  await objects.writeReadme(object, { readme })
  const status = { readmeConfigMapRef: ref, readmeDocs: docs.sha256 }
  await objects.writeStatus(object, { ...(object.status as object | undefined), ...status })
}
