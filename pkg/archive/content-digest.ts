import { createHash } from 'node:crypto'

interface DigestedFile {
  readonly path: string
  /** Of the content, in lower-case hexadecimal. */
  readonly sha256: string
}

/** By the bytes of UTF-8, which is not how JavaScript compares strings. */
export const byPath = (a: { path: string }, b: { path: string }): number =>
  Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))

/** The digest of files, modes and paths, however they are packed. */
export function treeDigest(files: readonly (DigestedFile & { executable: boolean })[]): string {
  const lines = files
    .toSorted(byPath)
    .map(({ sha256, executable, path }) => `${sha256}  ${executable ? 'x' : '-'}  ${path}\n`)
  return `tree1:${base64(lines)}`
}

/** The digest of a package in lock files, as the CLIs compute it (golang.org/x/mod/sumdb/dirhash, Hash1). */
export function packageDigest(files: readonly DigestedFile[]): string {
  const lines = files.toSorted(byPath).map(({ sha256, path }) => `${sha256}  ${path}\n`)
  return `h1:${base64(lines)}`
}

function base64(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('')).digest('base64')
}
