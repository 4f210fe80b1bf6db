/**
 * Archives in transit: sources of bytes, checks of length and digest, files that grow while many read them, and disk space that
 * is reserved before it is used. It knows neither backends nor clients.
 */
export * from './byte-source.ts'
export { GrowingFile } from './growing-file.ts'
export * from './reserved-space.ts'
