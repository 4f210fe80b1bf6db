import type { ArchiveLocation } from '../apis/v1alpha1/v1alpha1.ts'
import { type Backend, backendOf, locationSegments } from '../storage/storage.ts'

/** The archive routes: what each backend is called in a path, and the segments that follow. */
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
