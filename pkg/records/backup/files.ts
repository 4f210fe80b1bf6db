import { globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes a backup completely or not at all. Only this user can read it. */
export function writeBackup(file: string, text: string): void {
  writeFileSync(`${file}.part`, text, { mode: 0o600, flush: true })
  renameSync(`${file}.part`, file)
}

/**
 * Writes a backup into a folder of backups, and removes old backups and partial files of killed processes.
 *
 * @returns its file
 */
export function addBackup(dir: string, text: string, now: Date, keep: number): string {
  const file = join(dir, `depot-${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}.yaml`)
  writeBackup(file, text)
  const parts = globSync('depot-*.yaml.part', { cwd: dir })
  for (const old of [...backupsIn(dir).slice(0, -keep), ...parts]) rmSync(join(dir, old))
  return file
}

/**
 * Reads a backup.
 *
 * @param path a file, a folder of backups, of which the newest is read, or `-` for standard input
 * @throws Error if there is none
 */
export function readBackup(path: string): string {
  if (path === '-') return readFileSync(0, 'utf8')
  if (!statSync(path).isDirectory()) return readFileSync(path, 'utf8')
  const newest = backupsIn(path).at(-1)
  if (newest === undefined) throw new Error(`${path} has no depot-*.yaml: name another folder`)
  return readFileSync(join(path, newest), 'utf8')
}

/** File names in the order of their times, which is alphabetical. */
const backupsIn = (dir: string): string[] => globSync('depot-*.yaml', { cwd: dir }).toSorted()
