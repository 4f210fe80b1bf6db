import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { SpoolFile } from '../../../archives/spool/spool.ts'
import type { ArchivePlace } from '../../../archives/storage/storage.ts'
import { ifFound } from '../../../base/errors/errors.ts'
import type { Context } from '../context.ts'

/** A copy of a stored file in the spool. */
interface CopiedFile {
  readonly reserved: SpoolFile
  readonly sizeBytes: number
  readonly sha256: string
}

interface Reading {
  readonly signal: AbortSignal
  /** Room to reserve for a file of this size; default: the size. */
  readonly roomFor?: (sizeBytes: number) => number
}

/** Copies a file from storage into the spool. @returns undefined if it is missing. @throws RegistryError */
export async function readStored(
  { spool }: Pick<Context, 'spool'>,
  { driver, object }: ArchivePlace,
  fileName: string,
  { signal, roomFor = (sizeBytes) => sizeBytes }: Reading,
): Promise<CopiedFile | undefined> {
  const source = await ifFound(driver.open(object(fileName)))
  if (source === undefined) return undefined
  const { info, body } = source
  const reserved = await spool
    .reserve(roomFor(info.sizeBytes), { signal })
    .catch((error: unknown) => {
      body.close()
      throw error
    })
  try {
    const hash = createHash('sha256')
    await using file = await open(reserved.path, 'w')
    for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
      signal.throwIfAborted()
      hash.update(chunk)
      await file.writeFile(chunk)
    }
    return { reserved, sizeBytes: info.sizeBytes, sha256: hash.digest('hex') }
  } catch (error) {
    await reserved.remove()
    throw error
  } finally {
    body.close()
  }
}
