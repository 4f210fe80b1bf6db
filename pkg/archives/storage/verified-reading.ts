import { unavailable } from '../../base/errors/errors.ts'
import type { ByteRange, ObjectInfo, OpenObject } from './driver.ts'
import type { VerifiedObjects } from './known-archives.ts'
import type { ArchiveDigest } from './types.ts'

/**
 * Opens a local file, or part of it, after the whole file was verified. A verified file that has not changed is not read
 * again.
 *
 * @param digest reads the whole file, as it was when it was opened
 * @returns undefined if the file is wrong
 * @throws RegistryError as `open` and `digest`; Unavailable if the file changes meanwhile
 */
export async function openVerified({
  sha256,
  range,
  verified,
  open,
  digest,
}: {
  sha256: string
  range: ByteRange | undefined
  verified: VerifiedObjects
  open: (range?: ByteRange) => Promise<OpenObject>
  digest: (seen: ObjectInfo) => Promise<ArchiveDigest>
}): Promise<OpenObject | undefined> {
  const opened = await open(range)
  if (verified.has(opened.info, sha256)) return opened
  opened.body.close()
  const { sha256: found, fingerprint } = await digest(opened.info)
  if (found !== sha256) return undefined
  const again = await open(range)
  if (again.info.fingerprint === fingerprint) return again
  again.body.close()
  throw unavailable('the archive changed while it was read')
}
