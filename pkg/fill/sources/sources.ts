/**
 * Sources of archives: GitHub, git repositories, plain URLs, and registries of modules and providers. A source lists
 * versions, resolves a version to its current content, and fetches the archive with every check that its upstream allows.
 */
export { FillError } from './errors.ts'
export * from './open.ts'
export type { ServicesOf } from './registry.ts'
export { archiveHashes, readShasums, verifySignature } from './signatures.ts'
export type {
  FetchedArchive,
  FetchOptions,
  ModuleOrigin,
  ModuleUpstream,
  Platform,
  ProviderOrigin,
  ProviderRelease,
  ProviderUpstream,
  ResolvedVersion,
  UpstreamOptions,
  UpstreamProviderVersion,
  UpstreamVersion,
} from './types.ts'
