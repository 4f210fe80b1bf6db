/**
 * Archives in transit: sources of bytes, checks of length and digest, files that grow while many read them, and disk space that
 * is reserved before it is used. It knows neither backends nor clients.
 */
export {
  type AbortReason,
  type ByteSource,
  checkedBody,
  chunkBuffers,
  chunksOf,
  mismatch,
  noAnswer,
  release,
  sha256Of,
  skipping,
} from './byte-source.ts'
export { GrowingFile } from './growing-file.ts'
export {
  openSpool,
  type Spool,
  type SpoolFile,
} from './reserved-space.ts'
