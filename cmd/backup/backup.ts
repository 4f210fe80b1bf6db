import { messageOf } from '../../pkg/base/errors/errors.ts'
import {
  type BackupCommandOptions,
  OptionsError,
  requireNone,
} from '../../pkg/base/options/options.ts'
import { madeFolderProblem } from '../../pkg/base/run/run.ts'
import { addBackup, noteBackup, save, writeBackup } from '../../pkg/records/backup/backup.ts'
import { createApi, loadConnection } from '../../pkg/records/kube/kube.ts'

/**
 * Saves the records of a cluster.
 *
 * @returns the backup, or a message with its file
 * @throws OptionsError if the cluster, the folder or the Lease is unusable
 */
export async function backup(options: BackupCommandOptions): Promise<string> {
  const { apiGroup, kubeconfig, namespaces = [], dir, leaseName: name, namespace } = options
  requireNone(dir === undefined ? undefined : madeFolderProblem('--dir', dir, 0o700))
  const api = createApi(loadConnection({ kubeconfig, env: process.env }))
  try {
    const now = new Date()
    const text = await save({ api, apiGroup, namespaces, now })
    const file = dir === undefined ? options.out : addBackup(dir, text, now, options.keep)
    if (file !== undefined && file === options.out) writeBackup(file, text)
    if (name !== undefined) await noteBackup(api, { namespace, name }, now)
    return file === undefined ? text : `saved ${file}\n`
  } catch (error) {
    throw new OptionsError([messageOf(error)])
  } finally {
    await api.close()
  }
}
