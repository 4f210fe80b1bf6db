/**
 * Saves every record of a cluster with its status, and restores them, into this cluster or another one. A folder of manifests
 * needs neither: a copy of its files is a backup.
 */

export { addBackup, readBackup, writeBackup } from './files.ts'
export { type BackupLease, lastBackupMs, noteBackup } from './last.ts'
export { restore } from './restore.ts'
export { save } from './save.ts'
