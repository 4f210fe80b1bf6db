import { chmod, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The part of such a comment that makes it one, as in `trivy:ignore:*` and `tfsec:ignore:*`. */
const ignoring = /(?<=:)ignore(?=:)/g
const chunkBytes = 1024 * 1024
/** Bytes of a chunk that the next one is looked at with: `:ignore`. */
const overlap = 7

/**
 * Makes the comments with which authors of a module leave findings out have no effect on Trivy, in all files of a folder.
 * Files keep their length, so that findings keep their lines.
 */
export async function disableIgnoreComments(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) await disableIn(join(entry.parentPath, entry.name))
  }
}

async function disableIn(path: string): Promise<void> {
  await chmod(path, 0o600)
  const file = await open(path, 'r+')
  try {
    const chunk = Buffer.alloc(chunkBytes)
    let before = ''
    for (let position = 0; ; ) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, position)
      if (bytesRead === 0) return
      // Each character is a byte.
      const text = before + chunk.toString('latin1', 0, bytesRead)
      const after = text.replaceAll(ignoring, 'ignor_')
      if (after !== text) {
        const start = position - before.length
        await file.write(Buffer.from(after, 'latin1'), 0, after.length, start)
      }
      before = after.slice(-overlap)
      position += bytesRead
    }
  } finally {
    await file.close()
    await chmod(path, 0o400)
  }
}
