import { accessSync, constants, lstatSync, mkdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { messageOf } from '../errors/errors.ts'
import { OptionsError, requireNone } from '../options/options.ts'

/** Says why this user cannot read a folder that an option names; undefined if it can. */
export function folderProblem(flag: string, path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined)
    return `${flag}: the folder ${path} does not exist: create it, or name another`
  if (!stat.isDirectory()) return `${flag}: ${path} is not a folder`
  try {
    accessSync(path, constants.R_OK | constants.X_OK)
  } catch {
    return `${flag}: the folder ${path} may not be read by this user`
  }
  return undefined
}

/**
 * Creates a folder that an option names if it is missing.
 *
 * @param mode of a folder that is created
 * @returns why this user cannot write into it
 */
export function madeFolderProblem(flag: string, path: string, mode = 0o777): string | undefined {
  try {
    makeFolder(path, mode)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    return `${flag}: ${reasonOf(error, path)}`
  }
  return undefined
}

/** Creates parents too. Node's own recursive option never ends below /proc. */
function makeFolder(path: string, mode: number): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path && statSync(parent, { throwIfNoEntry: false }) === undefined) {
    makeFolder(parent, mode)
  }
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have created it.
    if (!isFolder(path)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function reasonOf(error: unknown, path: string): string {
  const { code = '' } = error as NodeJS.ErrnoException
  if (code === 'EEXIST') return `${path} is not a folder; name a folder, or a path that is free`
  if (code === 'ENOTDIR') return `a part of ${path} is a file; name a path of folders`
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) {
    return `the folder ${path} may not be written by this user; let it, or name another folder`
  }
  return `the folder ${path} cannot be made: ${messageOf(error)}`
}

/**
 * A folder of this user below the shared folder for temporary files.
 *
 * @param flag the flag that names another folder
 * @throws OptionsError if another user could change its files
 */
export function temporaryFolder(flag: string, name: string): string {
  const path = join(tmpdir(), `${name}-${process.geteuid?.() ?? 'own'}`)
  requireNone(madeFolderProblem(flag, path, 0o700))
  const stat = lstatSync(path)
  const isOwn = stat.isDirectory() && stat.uid === (process.geteuid?.() ?? stat.uid)
  if (isOwn && (stat.mode & 0o022) === 0) return path
  throw new OptionsError([
    `${flag}: ${path} may be changed by other users; remove it, or name another folder`,
  ])
}
