import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ArchiveReading } from './entry.ts'
import { readTree } from './read-tree.ts'
import { Scratch } from './scratch.ts'

export interface Unpacking extends ArchiveReading {
  /** Path of the scratch file, which must not exist. It is freed before the function returns. */
  readonly scratch: string
  /** An empty folder that no other process writes to. */
  readonly into: string
  /** Mode of every file. */
  readonly mode: number
}

/**
 * Unpacks an archive for a program that reads folders. The names of its files are checked before the first is written, and
 * links become copies, so nothing is written outside of the folder.
 *
 * @throws ArchiveError
 */
export async function unpack({ scratch: path, into, mode, ...reading }: Unpacking): Promise<void> {
  const scratch = await Scratch.open(path)
  try {
    const { files } = await readTree(reading, scratch)
    for (const file of files) {
      reading.signal?.throwIfAborted()
      const target = join(into, file.path)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      await writeFile(target, scratch.read(file), { flag: 'wx', mode })
    }
  } finally {
    await scratch.close()
  }
}
