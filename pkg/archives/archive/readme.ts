import { sortedByPath } from './content-digest.ts'

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
