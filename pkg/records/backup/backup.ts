/**
 * Saves every record of a cluster with its status, and restores them, into this cluster or another one. A folder of manifests
 * needs neither: a copy of its files is a backup.
 */

import { globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Api, type KubeClient, type ObservedObject, pathOf } from '../kube/kube.ts'
import { microTime } from '../lease/lease.ts'

export { restore } from './restore.ts'
export { save } from './save.ts'

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

/** A Lease whose renewal time is that of the last backup. */
export interface BackupLease {
  readonly namespace: string
  readonly name: string
}

/** Writes the time of a backup into its Lease. @throws ApiError NotFound if there is no such Lease */
export async function noteBackup(api: Api, lease: BackupLease, now: Date): Promise<void> {
  const path = pathOf({ kind: 'Lease', ...lease }, '')
  const patch = { spec: { holderIdentity: 'depot backup', renewTime: microTime(now.getTime()) } }
  await api.request('PATCH', path, patch, 'application/merge-patch+json')
}

/**
 * Reads the time of the last backup, in milliseconds since 1970; before the first one, the creation time of the Lease.
 *
 * @throws ApiError
 */
export async function lastBackupMs(client: KubeClient, lease: BackupLease): Promise<number> {
  const { metadata, spec } = (await client.get({ kind: 'Lease', ...lease })) as ObservedObject & {
    readonly metadata: { readonly creationTimestamp: string }
    readonly spec?: { readonly renewTime?: string }
  }
  return Date.parse(spec?.renewTime ?? metadata.creationTimestamp)
}
