export { type Archives, type ArchivesOptions, createArchives } from './archives.ts'
export { type Backend, backendOf, locationSegments } from './backends.ts'
export { grantProblems } from './grants.ts'
