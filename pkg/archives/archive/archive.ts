/**
 * Reads untrusted archives. Modules are rewritten so that the same files always give the same bytes. Providers are read and
 * never changed. Only `unpack` writes files under names from an archive, for scanners.
 */

export { readmeOf } from './content-digest.ts'
export { inspectModule, inspectProvider, visitFiles } from './inspect-provider.ts'
export { ArchiveError, type ArchiveLimits, defaultLimits, type LimitsByKind } from './limits.ts'
export { type OpenModule, withModuleFiles } from './module-files.ts'
export {
  type ArchiveFormat,
  type ModuleArchive,
  normaliseModule,
  normaliserVersion,
} from './normalise-module.ts'
export { packFiles } from './packing.ts'
export { providerFileName, storedName } from './provider-file-name.ts'
export { unpack } from './read-tree.ts'
export { formatOfFile, secretFilesIn } from './reading.ts'
