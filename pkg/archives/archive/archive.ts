/**
 * Reads untrusted archives. Modules are rewritten so that the same files always give the same bytes. Providers are read and
 * never changed. Only `unpack` writes files under names from an archive, for scanners.
 */

export { ArchiveError, type ArchiveLimits, defaultLimits, type LimitsByKind } from './entry.ts'
export { inspectModule, inspectProvider, providerFileName, visitFiles } from './inspect-provider.ts'
export {
  type ArchiveFormat,
  type ModuleArchive,
  normaliseModule,
  normaliserVersion,
  type OpenModule,
  packFiles,
  readmeOf,
  withModuleFiles,
} from './module-archive.ts'
export { formatOfFile, secretFilesIn } from './reading.ts'
export { unpack } from './tree.ts'
