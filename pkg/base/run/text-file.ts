import { readFile, stat } from 'node:fs/promises'
import { messageOf } from '../errors/errors.ts'

/** A larger file is probably a mistake. */
const maxBytes = 16 * 1024 * 1024

/**
 * Reads a text file that an option names.
 *
 * @throws Error that says what is wrong with the file, to be printed after the flag
 */
export async function readTextFile(path: string): Promise<string> {
  try {
    const stats = await stat(path)
    if (stats.isDirectory()) throw new Error(`${path} is a folder; name a file`)
    if (stats.size > maxBytes) {
      throw new Error(`${path} has ${stats.size} bytes, more than 16 MiB; is it the right file?`)
    }
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new Error(`the file ${path} does not exist`, { cause: error })
    }
    if (code === 'EACCES') {
      throw new Error(`the file ${path} may not be read by this user`, { cause: error })
    }
    if (code !== '') throw new Error(`${path}: ${messageOf(error)}`, { cause: error })
    throw error
  }
}
