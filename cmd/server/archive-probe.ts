import type { Archives } from '../../pkg/archives/storage/storage.ts'
import { RegistryError } from '../../pkg/base/errors/errors.ts'
import type { ArchiveProbe } from '../../pkg/records/folder/folder.ts'

/** Lets the manifest scanner look at archives on the filesystem backend, where every file has a fingerprint. */
export function archiveProbe(archives: Archives): ArchiveProbe {
  return {
    async stat(location) {
      try {
        const { sizeBytes, fingerprint = '' } = await archives.stat(location)
        return { sizeBytes, fingerprint }
      } catch (error) {
        if (error instanceof RegistryError && error.reason === 'NotFound') return undefined
        throw error
      }
    },
    async digest(location, signal) {
      const { fingerprint = '', ...digest } = await archives.digest(location, signal)
      return { ...digest, fingerprint }
    },
  }
}
