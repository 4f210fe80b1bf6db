import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { mkdir, open, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { codeOf, messageOf } from '../../../base/errors/errors.ts'
import { decodeText, identityOf, signatureOf } from '../../folder/folder.ts'
import { ApiError } from '../../kube/kube.ts'

/**
 * Creates or replaces a file, with its folder. Readers find the whole old text or the whole new one, even after a power
 * failure.
 *
 * @returns the identity of the file, by which a scanner recognizes it
 * @param expected the text to replace; another text stays. Default: any text is replaced
 * @param aside the path to which the old file is moved
 * @throws ApiError Conflict if the file has another text, Forbidden if this user may not write it, otherwise Unavailable
 */
export async function writeFile(
  path: string,
  text: string,
  { expected, aside }: { readonly expected?: string | undefined; readonly aside?: string } = {},
): Promise<string> {
  try {
    await mkdir(dirname(path), { recursive: true })
    const { target, mode } = await existing(path)
    const temporary = temporaryOf(target)
    try {
      await using file = await open(temporary, 'w', mode)
      await file.writeFile(text)
      await file.datasync()
      const identity = identityOf(signatureOf(await file.stat({ bigint: true })))
      if (expected !== undefined) replace(target, temporary, expected)
      else {
        if (aside !== undefined) renameSync(target, aside)
        renameSync(temporary, target)
      }
      return identity
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw failure(path, error)
  }
}

/** A hidden name, which is not a manifest. A file that a kill leaves is overwritten next time, or removed with its manifest. */
function temporaryOf(path: string): string {
  return join(dirname(path), `.${basename(path).slice(0, 200)}.depot-tmp`)
}

/**
 * Replaces a file that has the expected text. A second name of the old file shows whether an editor that had opened it before
 * wrote into it meanwhile. Then the old file is restored. Synchronous, to keep that time short.
 */
function replace(target: string, temporary: string, expected: string): void {
  const old = `${temporary}-old`
  const isLinked = hasSecondName(target, old)
  try {
    if (!holds(target, expected)) throw changed(target)
    renameSync(temporary, target)
    if (!isLinked || holds(old, expected)) return
    renameSync(old, target)
    throw changed(target)
  } finally {
    rmSync(old, { force: true })
  }
}

/** Makes a hard link. Some file systems have none, and a user may not link to a file of another user. */
function hasSecondName(target: string, name: string): boolean {
  rmSync(name, { force: true })
  try {
    linkSync(target, name)
    return true
  } catch {
    return false
  }
}

function holds(path: string, expected: string): boolean {
  const read = decodeText(readFileSync(path))
  return 'text' in read && read.text === expected
}

/** Error for a file or an object that changed since it was read. */
export function changed(what: string, cause?: unknown): ApiError {
  const message = `${what} was changed in the meantime; read it again`
  return new ApiError('Conflict', message, { cause })
}

/** @throws ApiError Conflict if the file does not have the expected text */
export function removeFile(path: string, expected: string): void {
  try {
    if (!holds(path, expected)) throw changed(path)
    rmSync(path)
    rmSync(temporaryOf(path), { force: true })
  } catch (error) {
    if (error instanceof ApiError) throw error
    if (codeOf(error) === 'ENOENT') return
    throw failure(path, error)
  }
}

/** Resolves links, because the target is written, not the link. */
async function existing(path: string): Promise<{ target: string; mode: number }> {
  try {
    const target = await realpath(path)
    return { target, mode: (await stat(target)).mode }
  } catch {
    return { target: path, mode: 0o644 }
  }
}

function failure(path: string, error: unknown): ApiError {
  const denied = ['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error))
  const hint = denied ? '; let this user write to the folder of manifests' : ''
  const message = `${path} cannot be written: ${messageOf(error)}${hint}`
  return new ApiError(denied ? 'Forbidden' : 'Unavailable', message, { cause: error })
}
