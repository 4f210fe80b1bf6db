export { type Archive, type Archives, createArchives, type OpenArchive } from './archives.ts'
export { type Backend, backendOf, locationSegments } from './backends.ts'
export type { ByteRange, ObjectInfo } from './driver.ts'
export type { ArchiveDigest } from './hashing.ts'
