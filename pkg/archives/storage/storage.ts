/** The storage of archives: read and checked for callers of the registry, written by controllers and commands. */

export { archiveProbe } from './archive-probe.ts'
export {
  type ArchivePlace,
  type ArchiveStore,
  openArchiveStore,
  type StoreGrants,
} from './archive-store.ts'
export { createArchives } from './archives.ts'
export type { ByteRange, LocalFile } from './driver.ts'
export { storageOfEnvironment } from './environment.ts'
export { grantProblems } from './grants.ts'
export type { Archive, Archives, ArchivesOptions } from './types.ts'
