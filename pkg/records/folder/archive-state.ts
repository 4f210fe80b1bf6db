import type { ArchiveLocation, Version } from '../../api/v1alpha1/v1alpha1.ts'
import { codeOf, messageOf, RegistryError } from '../../base/errors/errors.ts'

/** Reads the state of archives. cmd provides one for the mounted directory. */
export interface ArchiveProbe {
  /**
   * Looks at an archive without reading it.
   *
   * @returns undefined if the archive does not exist
   * @throws RegistryError if it cannot be read; its message is shown in `syncStatus`
   */
  stat(location: ArchiveLocation): Promise<ArchiveStat | undefined>
  /** Reads and hashes a whole archive. @throws like `stat` */
  digest(location: ArchiveLocation, signal: AbortSignal): Promise<ArchiveDigest>
}

interface ArchiveStat {
  readonly sizeBytes: number
  /** Changes whenever the content may have changed. */
  readonly fingerprint: string
}

/** The fingerprint of the file that was read, taken before reading. */
interface ArchiveDigest extends ArchiveStat {
  /** Lower-case hexadecimal. */
  readonly sha256: string
}

/** The known state of an archive. */
export type ArchiveState =
  | ({ readonly type: 'hashed' } & ArchiveDigest)
  | { readonly type: 'failed'; readonly message: string }

export function missing(location: ArchiveLocation): ArchiveState {
  const where = 'not found under --archives'
  return { type: 'failed', message: `archive ${pathOf(location)} ${where}` }
}

/** A message that may contain a path of the host is only logged. */
export function unreadable(location: ArchiveLocation, error: unknown): ArchiveState {
  if (error instanceof RegistryError) return { type: 'failed', message: messageOf(error) }
  const message = `archive ${pathOf(location)} cannot be read (${codeOf(error) || 'see the log'})`
  return { type: 'failed', message }
}

/** Adds to a Version what a controller would have written about its archive. */
export function withArchive(version: Version, state: ArchiveState): Version {
  const { checksum: _, archiveSizeBytes: __, ...status } = version.status ?? {}
  if (state.type === 'failed') {
    const syncStatus = `failed: ${state.message}`
    return { ...version, status: { ...status, synced: false, syncStatus } }
  }
  return {
    ...version,
    status: {
      ...status,
      checksum: Buffer.from(state.sha256, 'hex').toString('base64'),
      archiveSizeBytes: state.sizeBytes,
      synced: true,
      syncStatus: 'archive hashed where it is stored',
    },
  }
}

/** As in the manifest: directory, name and file. */
export function pathOf({ storage, configName, fileName }: ArchiveLocation): string {
  const directory = storage.fileSystem?.directoryPath.replace(/\/+$/, '') ?? ''
  return [directory, configName, fileName].filter((part) => part !== '').join('/')
}
