/**
 * Whole objects for reconcilers: their known state in memory, and how to write them. They are in a cluster or in a folder of
 * manifests, and reconcilers cannot tell which.
 */

export { ApiError } from '../kube/kube.ts'
export { clusterObjects } from './cluster.ts'
export { folderObjects } from './folder/folder.ts'
export { type ProposedObjects, proposedObjects } from './folder/proposed.ts'
export { writeFile } from './folder/write-file.ts'
export { refOf } from './memory.ts'
export { plannedObjects } from './planned.ts'
export { writeReadmeManifest } from './readme.ts'
export { StorageAnnotations } from './storage-annotations.ts'
export type * from './types.ts'
