import { mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '../../errors/errors.ts'
import { ApiError } from '../../kube/kube.ts'

/**
 * Replaces a file, or makes it: who reads it meanwhile finds all of the old text or all of the new one, also after a power
 * cut. Its folder is made where it is missing.
 *
 * @throws ApiError Forbidden where this user may not, Unavailable for whatever else went wrong
 */
export async function writeFile(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
    const { target, mode } = await existing(path)
    // Hidden names are no manifests. What a kill leaves is written over the next time.
    const name = `.${basename(target).slice(0, 200)}.depot-tmp`
    const temporary = join(dirname(target), name)
    try {
      await using file = await open(temporary, 'w', mode)
      await file.writeFile(text)
      await file.datasync()
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
    await rename(temporary, target)
  } catch (error) {
    throw failure(path, error)
  }
}

export async function removeFile(path: string): Promise<void> {
  try {
    await rm(path, { force: true })
  } catch (error) {
    throw failure(path, error)
  }
}

/** What a link points to is written, not the link. */
async function existing(path: string): Promise<{ target: string; mode: number }> {
  try {
    const target = await realpath(path)
    return { target, mode: (await stat(target)).mode }
  } catch {
    return { target: path, mode: 0o644 }
  }
}

function failure(path: string, error: unknown): ApiError {
  const { code } = error as { code?: unknown }
  const denied = ['EACCES', 'EPERM', 'EROFS'].includes(String(code))
  const hint = denied ? '; let this user write to the folder of manifests' : ''
  const message = `${path} cannot be written: ${messageOf(error)}${hint}`
  return new ApiError(denied ? 'Forbidden' : 'Unavailable', message, { cause: error })
}
