import { messageOf } from '../../pkg/base/errors/errors.ts'
import { OptionsError, type RestoreCommandOptions } from '../../pkg/base/options/options.ts'
import { stdout } from '../../pkg/base/run/run.ts'
import { readBackup, restore as restoreRecords } from '../../pkg/records/backup/backup.ts'
import { createApi, loadConnection } from '../../pkg/records/kube/kube.ts'

/**
 * Restores the records of a backup into a cluster.
 *
 * @returns 1 if an object failed
 * @throws OptionsError if the backup or the cluster is unusable
 */
export async function restore(
  options: RestoreCommandOptions,
  operands: readonly string[],
): Promise<number> {
  const [file, ...more] = operands
  if (file === undefined || more.length > 0) {
    throw new OptionsError([
      'name one backup: a file, a folder, or - for standard input; to serve withdrawn versions again, write depot activate ADDRESS VERSIONS',
    ])
  }
  const { dryRun, kubeconfig, mapGroup: [old, mapped] = [] } = options
  const api = createApi(loadConnection({ kubeconfig, env: process.env }))
  try {
    const text = readBackup(file)
    const { objects, statuses, unchecked, failures } = await restoreRecords({
      api,
      text,
      apiGroup: mapped ?? options.apiGroup,
      mapGroup: old,
      dryRun,
    })
    process.stderr.write(failures.map((failure) => `${failure}\n`).join(''))
    stdout.write(
      dryRun
        ? `${objects} objects would be restored, ${unchecked} of them into namespaces that do not exist yet\n`
        : `${objects} objects restored, ${statuses} with their status\n`,
    )
    if (failures.length > 0) process.stderr.write(`${failures.length} failed\n`)
    return failures.length > 0 ? 1 : 0
  } catch (error) {
    throw new OptionsError([messageOf(error)])
  } finally {
    await api.close()
  }
}
