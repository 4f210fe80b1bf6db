/**
 * Whole objects for reconcilers: what is known of them in memory, and how they are written. A cluster and a folder of
 * manifests are the two places that hold them, and reconcilers cannot tell which.
 */

export { ApiError } from '../kube/kube.ts'
export { clusterObjects } from './cluster.ts'
export { folderObjects } from './folder/folder.ts'
export { type ProposedObjects, proposedObjects } from './folder/proposed.ts'
export { writeFile } from './folder/write-file.ts'
export { refOf } from './memory.ts'
export { plannedObjects } from './planned.ts'
export { maxInterfaceBytes, readmeRefOf, writeReadmeManifest } from './readme.ts'
export { watchStorageAnnotations } from './storage-annotations.ts'
export type * from './types.ts'
