/**
 * The records of the browse API, as schemas: pkg/registry/browse creates the OpenAPI document from them, and the explorer
 * takes its types from them.
 */

export type { InterfaceChange, ModuleComparison, ProviderPage } from '../docs/docs.ts'
export { Errors, type PublishRight, PublishRights, WhoAmI } from './callers.ts'
export { DepotGraph, DepotList } from './depots.ts'
export { ProviderPages, ProviderPageText, VersionDocs } from './documentation.ts'
export { FindingsAnswer, ScanFindings, VersionFindings } from './findings.ts'
export { components, unservedReasons, VersionLifecycle } from './parts.ts'
export * from './resources.ts'
export * from './unserved.ts'
export { BrowseStats, ConsumerList, DownloadHistory } from './usage.ts'
export { BrowseVersion, VersionList } from './versions.ts'
