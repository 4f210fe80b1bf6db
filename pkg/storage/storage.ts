export { type Archives, createArchives } from './archives.ts'
export { type Backend, backendOf, locationSegments } from './backends.ts'
