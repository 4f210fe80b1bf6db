/**
 * Reads untrusted archives. Modules are rewritten so that the same files always give the same bytes. Providers are read and
 * never changed. Only `unpack` writes files under names from an archive, for scanners.
 */
export { ArchiveError } from './archive-error.ts'
export { inspectModule } from './inspect-module.ts'
export { inspectProvider } from './inspect-provider.ts'
export { type ArchiveLimits, defaultLimits, type LimitsByKind } from './limits.ts'
export { type OpenModule, withModuleFiles } from './module-files.ts'
export {
  type ArchiveFormat,
  type ModuleArchive,
  normaliseModule,
  normaliserVersion,
} from './normalise-module.ts'
export { packFiles } from './packing.ts'
export { providerFileName } from './provider-file-name.ts'
export { formatOfFile } from './reading.ts'
export { readmeOf } from './readme.ts'
export { secretFilesIn } from './secret-files.ts'
export { storedName } from './stored-name.ts'
export { unpack } from './unpack.ts'
export { visitFiles } from './visit-files.ts'
