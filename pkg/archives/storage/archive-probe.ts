import type { ArchiveLocation } from '../../api/v1alpha1/v1alpha1.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import type { Archives } from './types.ts'

/** Lets the manifest scanner look at archives on the filesystem backend, where every file has a fingerprint. */
export function archiveProbe(archives: Archives) {
  return {
    async stat(location: ArchiveLocation) {
      try {
        const { sizeBytes, fingerprint = '' } = await archives.stat(location)
        return { sizeBytes, fingerprint }
      } catch (error) {
        if (error instanceof RegistryError && error.reason === 'NotFound') return undefined
        throw error
      }
    },
    async digest(location: ArchiveLocation, signal: AbortSignal) {
      const { fingerprint = '', ...digest } = await archives.digest(location, signal)
      return { ...digest, fingerprint }
    },
  }
}
