/**
 * Fills a registry from elsewhere: from another registry, from the tags of a git repository, from a folder of archives. It
 * stores the archives and writes the manifests that a registry serves; what is there already is left as it is.
 */
export { type ImportAddress, importAddress } from './address.ts'
export { type ImportEvent, type ImportOptions, type ImportResult, importAll } from './run.ts'
