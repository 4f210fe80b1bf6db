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

const cutNote = (maxBytes: number): string =>
  `\n\n*The rest of this README is left out: it has more than ${maxBytes / 1024} KiB.*\n`

/**
 * Finds the README of a folder. Markdown is preferred.
 *
 * @param files directly in the folder
 */
export async function readmeOf<File extends { readonly path: string; readonly sizeBytes: number }>(
  files: readonly File[],
  read: (file: File) => AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ path: string; text: string } | undefined> {
  const found = sortedByPath(files.filter(({ path }) => /(?:^|\/)readme[^/]*$/i.test(path)))
  const file = found.find(isMarkdown) ?? found[0]
  if (file === undefined) return undefined
  const cut = file.sizeBytes > maxBytes
  const chunks: Uint8Array[] = []
  for await (const chunk of read({ ...file, sizeBytes: Math.min(file.sizeBytes, maxBytes) })) {
    chunks.push(chunk)
  }
  // Drops a character that was cut at the end.
  const text = new TextDecoder().decode(Buffer.concat(chunks), { stream: cut })
  return { path: file.path, text: cut ? text + cutNote(maxBytes) : text }
}

const isMarkdown = ({ path }: { readonly path: string }): boolean => /\.md$/i.test(path)
