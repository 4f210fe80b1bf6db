/**
 * Imports archives from another registry, from the tags of a git repository, or from a folder of archives. It stores the
 * archives and writes the manifests that a registry serves. Existing archives and manifests are left alone.
 */
export { type ImportAddress, importAddress } from './address.ts'
export { configOf } from './fields.ts'
export { protocolsIn } from './folder-items.ts'
export { parentNames } from './parent-files.ts'
export { importAll, unsignedRemedy } from './run.ts'
export type { ImportEvent, ImportOptions, ImportResult } from './types.ts'
