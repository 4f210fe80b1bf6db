/**
 * Where archives come from: GitHub, git repositories, plain URLs, and registries of modules and providers. It lists
 * versions, says what a version is at this moment, and fetches it, checked as far as its upstream lets one check.
 */
export { SourceError } from './errors.ts'
export type {
  FetchedArchive,
  FetchOptions,
  ListOptions,
  ModuleOrigin,
  ModuleSource,
  Resolved,
  UpstreamVersion,
} from './module-source.ts'
export { openSources, type Sources, type SourcesOptions } from './open.ts'
export type {
  Platform,
  ProviderOrigin,
  ProviderRelease,
  ProviderUpstream,
  UpstreamProviderVersion,
} from './provider-upstream.ts'
