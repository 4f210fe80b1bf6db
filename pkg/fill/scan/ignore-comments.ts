import { chmod, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Words that Trivy takes for such a comment, also outside of comments. */
const ignoring = /(?:trivy|tfsec):[^ \n]*/g
const chunkBytes = 1024 * 1024

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
    let position = 0
    /** The word that the last chunk cut. */
    let begun = ''
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, position)
      // Each character is a byte.
      const text = begun + chunk.toString('latin1', 0, bytesRead)
      const end =
        bytesRead === 0
          ? text.length
          : Math.max(...[' ', '\n'].map((one) => text.lastIndexOf(one))) + 1
      const before = text.slice(0, end)
      const after = before.replaceAll(ignoring, (word) =>
        word.replaceAll(/(?<=:)ignore(?=:)/g, 'ignor_'),
      )
      if (after !== before)
        await file.write(Buffer.from(after, 'latin1'), 0, end, position - begun.length)
      if (bytesRead === 0) return
      begun = text.slice(end)
      position += bytesRead
    }
  } finally {
    await file.close()
    await chmod(path, 0o400)
  }
}
