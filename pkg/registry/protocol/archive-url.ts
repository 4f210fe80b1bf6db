import { posix } from 'node:path'
import { type ArchiveLocation, type Backend, backendOf } from '../../api/v1alpha1/v1alpha1.ts'

/** The archive routes: the name of each backend in a path, and the segments that follow. */
export const archivePaths = {
  s3: { name: 's3', parameters: ['bucket', 'region', 'name', 'fileName'] },
  azure: {
    name: 'azure',
    parameters: ['subID', 'rg', 'account', 'accountUrl', 'name', 'fileName'],
  },
  gcs: { name: 'gcs', parameters: ['bucket', 'name', 'fileName'] },
  filesystem: { name: 'fileSystem', parameters: ['directory', 'name', 'fileName'] },
} as const satisfies Record<Backend, { name: string; parameters: readonly string[] }>

/** Pattern of the route of a backend's archives, below the module protocol. */
export function archivePattern(backend: Backend): `/download/${string}` {
  const { name, parameters } = archivePaths[backend]
  return `/download/${name}/:${parameters.join('/:')}`
}

/** Path of an archive below the module protocol: its segments, each encoded, so that they may hold slashes. */
export function archivePath(location: ArchiveLocation): string {
  const segments = locationSegments(location).map((segment) => encodeURIComponent(segment))
  return `download/${archivePaths[backendOf(location.storage)].name}/${segments.join('/')}`
}

/** Whether the decoded segments of a request are those of a location. */
export function isAt(
  location: ArchiveLocation,
  backend: Backend,
  segments: readonly string[],
): boolean {
  if (backendOf(location.storage) !== backend) return false
  const own = locationSegments(location)
  return (
    own.length === segments.length && own.every((segment, index) => segment === segments[index])
  )
}

/**
 * The path segments of an archive's URL after the backend, not encoded. They name the archive to clients and are
 * compared with those of Versions; they are never turned back into a location.
 *
 * The prefix of an S3 object is not among them: archives that differ in nothing else are distinguished by their digest,
 * and archives of one digest are the same bytes.
 */
function locationSegments({ storage, configName, fileName }: ArchiveLocation): string[] {
  const { s3, azureStorage: azure, gcs, fileSystem } = storage
  if (s3) return [s3.bucket, s3.region, configName, fileName]
  if (azure) {
    const { subscriptionID, resourceGroup, accountName, accountUrl } = azure
    return [subscriptionID, resourceGroup, accountName, accountUrl, configName, fileName]
  }
  if (gcs) return [gcs.bucket, configName, fileName]
  return [directorySegment(fileSystem?.directoryPath ?? ''), configName, fileName]
}

/** Clients drop segments that are empty, `.` or `..`, so the mounted directory itself is named `/`. */
function directorySegment(directoryPath: string): string {
  const path = posix.normalize(directoryPath)
  return path === '.' || path === './' ? '/' : path
}
