/** The storage of archives: read and checked for callers of the registry, written by controllers and commands. */

import type { ArchiveLocation } from '../../api/v1alpha1/v1alpha1.ts'
import { ifFound } from '../../base/errors/errors.ts'
import type { Archives } from './types.ts'

export { createArchives } from './archives.ts'
export type { ByteRange, LocalFile } from './driver.ts'
export {
  type ArchivePlace,
  type ArchiveStore,
  grantProblems,
  openArchiveStore,
  type StoreGrants,
  storageOfEnvironment,
} from './places.ts'
export type { Archive, Archives, ArchivesOptions } from './types.ts'

/** Lets the manifest scanner look at archives on the filesystem backend, where every file has a fingerprint. */
export function archiveProbe(archives: Archives) {
  return {
    async stat(location: ArchiveLocation) {
      const found = await ifFound(archives.stat(location))
      return found && { sizeBytes: found.sizeBytes, fingerprint: found.fingerprint ?? '' }
    },
    async digest(location: ArchiveLocation, signal: AbortSignal) {
      const { fingerprint = '', ...digest } = await archives.digest(location, signal)
      return { ...digest, fingerprint }
    },
  }
}
