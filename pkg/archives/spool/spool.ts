/**
 * Archives in transit: sources of bytes, checks of length and digest, files that grow while many read them, and disk space that
 * is reserved before it is used. It knows neither backends nor clients.
 */
export {
  type ByteSource,
  chunkBuffers,
  chunksOf,
  noAnswer,
  release,
  sha256Of,
} from './byte-source.ts'
export { type AbortReason, checkedBody, mismatch } from './checked-body.ts'
export { GrowingFile } from './growing-file.ts'
export {
  openSpool,
  type Spool,
  type SpoolFile,
} from './reserved-space.ts'
