/**
 * Archives on their way through the process: sources of bytes, checks of length and digest, a thread that hashes, files that
 * grow while many read them, and room on the disk that is handed out before it is used. It knows no backend and no client.
 */
export { type ByteSource, noAnswer } from './byte-source.ts'
export { type AbortReason, checkedBody, mismatch } from './checked-body.ts'
export { chunkBuffers } from './chunk-buffers.ts'
export { DiskError, GrowingFile } from './growing-file.ts'
export { release } from './release.ts'
export {
  openSpool,
  type Spool,
  type SpoolFile,
  SpoolTooSmallError,
} from './reserved-space.ts'
export { sha256Of } from './sha256.ts'
