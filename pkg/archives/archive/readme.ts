import { sortedByPath } from './content-digest.ts'
import type { TreeFile } from './module-tree.ts'

const maxBytes = 512 * 1024
const cutNote = '\n\n*The rest of this README is left out: it has more than 512 KiB.*\n'

/** Finds the README of a module. Markdown is preferred. */
export async function readmeOf(
  files: readonly TreeFile[],
  read: (file: TreeFile) => AsyncIterable<Uint8Array>,
): Promise<{ path: string; text: string } | undefined> {
  const found = sortedByPath(files.filter(({ path }) => /^readme[^/]*$/i.test(path)))
  const file = found.find(isMarkdown) ?? found[0]
  if (file === undefined) return undefined
  const cut = file.sizeBytes > maxBytes
  const chunks: Uint8Array[] = []
  for await (const chunk of read({ ...file, sizeBytes: Math.min(file.sizeBytes, maxBytes) })) {
    chunks.push(chunk)
  }
  // Drops a character that was cut in half at the end.
  const text = new TextDecoder().decode(Buffer.concat(chunks), { stream: cut })
  return { path: file.path, text: cut ? text + cutNote : text }
}

const isMarkdown = ({ path }: TreeFile): boolean => /\.md$/i.test(path)
