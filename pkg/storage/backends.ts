import { posix } from 'node:path'
import type { ArchiveLocation, StorageConfig } from '../apis/v1alpha1/v1alpha1.ts'

/** The name of a backend in the API, in URLs of archives, and as a label of metrics. */
export type Backend = 's3' | 'azure' | 'gcs' | 'filesystem'

export function backendOf({ s3, azureStorage, gcs }: StorageConfig): Backend {
  if (s3) return 's3'
  if (azureStorage) return 'azure'
  return gcs ? 'gcs' : 'filesystem'
}

/**
 * The path segments of an archive's URL after the backend, not encoded. They name the archive to clients and are
 * compared with those of Versions; they are never turned back into a location.
 *
 * The prefix of an S3 object is not among them: archives that differ in nothing else are distinguished by their digest,
 * and with the same digest either will do.
 */
export function locationSegments({ storage, configName, fileName }: ArchiveLocation): string[] {
  const { s3, azureStorage: azure, gcs, fileSystem } = storage
  if (s3) return [s3.bucket, s3.region, configName, fileName]
  if (azure) {
    const { subscriptionID, resourceGroup, accountName, accountUrl } = azure
    return [subscriptionID, resourceGroup, accountName, accountUrl, configName, fileName]
  }
  if (gcs) return [gcs.bucket, configName, fileName]
  return [directorySegment(fileSystem?.directoryPath ?? ''), configName, fileName]
}

/** No client keeps a segment that is empty, `.` or `..`, so the mounted directory itself goes by the name of `/`. */
function directorySegment(directoryPath: string): string {
  const path = posix.normalize(directoryPath)
  return path === '.' || path === './' ? '/' : path
}
