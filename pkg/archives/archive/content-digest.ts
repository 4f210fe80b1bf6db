import { createHash } from 'node:crypto'

interface DigestedFile {
  readonly path: string
  /** Digest of the content, in lower-case hexadecimal. */
  readonly sha256: string
}

/** Sorts by the bytes of UTF-8. JavaScript compares strings in another order. */
export function sortedByPath<File extends { readonly path: string }>(
  files: readonly File[],
): File[] {
  // One character for each byte, so that strings sort like their bytes.
  const keyed = files.map((file) => ({ file, key: Buffer.from(file.path).toString('latin1') }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
  return keyed.map(({ file }) => file)
}

/** Digest of files, modes and paths, independent of the packing. */
export function treeDigest(files: readonly (DigestedFile & { executable: boolean })[]): string {
  const lines = sortedByPath(files).map(
    ({ sha256, executable, path }) => `${sha256}  ${executable ? 'x' : '-'}  ${path}\n`,
  )
  return `tree1:${base64(lines)}`
}

/** The digest of a package in lock files, as the CLIs compute it (golang.org/x/mod/sumdb/dirhash, Hash1). */
export function packageDigest(files: readonly DigestedFile[]): string {
  const lines = sortedByPath(files).map(({ sha256, path }) => `${sha256}  ${path}\n`)
  return `h1:${base64(lines)}`
}

function base64(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('')).digest('base64')
}
