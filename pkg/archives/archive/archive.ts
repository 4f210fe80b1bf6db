/**
 * Archives from outside: read safely whatever is in them, modules rewritten so that the same files always give the same
 * bytes, providers read through and left as they are. Nothing is ever unpacked under a name that an archive chose.
 */
export { ArchiveError } from './archive-error.ts'
export { inspectProvider } from './inspect-provider.ts'
export { type ArchiveLimits, defaultLimits, type LimitsByKind } from './limits.ts'
export {
  type ArchiveFormat,
  normaliseModule,
  normaliserVersion,
} from './normalise-module.ts'
export { storedName } from './stored-name.ts'
