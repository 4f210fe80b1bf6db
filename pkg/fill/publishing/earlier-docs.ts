import { createHash, randomUUID } from 'node:crypto'
import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModuleDocs } from '../../api/docs/docs.ts'
import { docsChecksumOf, docsFileName, locationOf, sha256Hex } from '../../api/v1alpha1/v1alpha1.ts'
import { openModuleDocs, unpackDocs } from '../../archives/docs/docs.ts'
import { chunksOf } from '../../archives/spool/spool.ts'
import type { ArchivePlace, ArchiveStore } from '../../archives/storage/storage.ts'
import { resourceOf } from '../sync/sync.ts'
import type { Sibling, Target } from './target.ts'

interface ReadingContext {
  readonly archives: ArchiveStore
  /** A folder for archives that are being read. */
  readonly workDir: string
  readonly signal: AbortSignal
}

/**
 * The documentation of a stored version: as stored next to its archive, otherwise read from the archive.
 *
 * @throws RegistryError, or Error if storage has other bytes
 */
export async function docsOf(
  context: ReadingContext,
  { parent }: Pick<Target, 'parent'>,
  { resource, sha256 }: Sibling,
): Promise<ModuleDocs> {
  const location = locationOf(resource, resourceOf('Module', parent))
  if (location === undefined) throw new Error('it names no archive')
  const { storage, configName, fileName } = location
  const place = context.archives.for(storage, configName)
  const docs = sha256Hex(docsChecksumOf(resource) ?? '')
  if (docs === undefined || sha256 === undefined)
    return copied(context, place, { fileName, sha256 }, openModuleDocs)
  const stored = { fileName: docsFileName(fileName, sha256), sha256: docs }
  return copied(context, place, stored, async (path) => unpackDocs(await readFile(path)))
}

/** Reads a copy of a stored file. */
async function copied<T>(
  { workDir, signal }: ReadingContext,
  { driver, object }: ArchivePlace,
  { fileName, sha256 }: { readonly fileName: string; readonly sha256: string | undefined },
  read: (path: string) => Promise<T>,
): Promise<T> {
  const path = join(workDir, randomUUID())
  const { body } = await driver.open(object(fileName))
  try {
    const hash = createHash('sha256')
    await using file = await open(path, 'wx', 0o600)
    for await (const chunk of chunksOf(body)) {
      signal.throwIfAborted()
      hash.update(chunk)
      await file.writeFile(chunk)
    }
    if (sha256 !== undefined && hash.digest('hex') !== sha256)
      throw new Error(`${fileName} in storage has other bytes`)
    return await read(path)
  } finally {
    body.close()
    await rm(path, { force: true })
  }
}
