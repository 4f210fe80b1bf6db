import { accessSync, constants, statSync } from 'node:fs'

/** What keeps this user from reading a folder that an option names; undefined where nothing does. */
export function folderProblem(flag: string, path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return `${flag}: the folder ${path} does not exist`
  if (!stat.isDirectory()) return `${flag}: ${path} is not a folder`
  try {
    accessSync(path, constants.R_OK | constants.X_OK)
  } catch {
    return `${flag}: the folder ${path} may not be read by this user`
  }
  return undefined
}
