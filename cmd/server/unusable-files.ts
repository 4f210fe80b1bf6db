import { checkSigningKey } from '../../pkg/archives/signing/signing.ts'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import { type ServerCommandOptions, serverCommand } from '../../pkg/base/options/options.ts'
import { folderProblem } from '../../pkg/base/run/run.ts'
import { readTlsFiles } from '../../pkg/base/serving/serving.ts'
import { loadConnection } from '../../pkg/records/kube/kube.ts'

const defaultMountPath = serverCommand.options.archives.default

/**
 * Lists problems with the files and folders that the options name. It runs before anything is opened, so that one message
 * lists all mistakes.
 */
export async function unusableFiles(
  named: Partial<ServerCommandOptions> & { readonly gpgPassphrase?: string | undefined },
): Promise<string[]> {
  const { manifests, archives, tlsCertPath, tlsCertKey, gpgPrivateKeyPath, gpgPassphrase } = named
  const problems: string[] = []
  const attempt = async (action: () => unknown): Promise<void> => {
    try {
      await action()
    } catch (error) {
      problems.push(messageOf(error))
    }
  }
  const folder = (flag: string, path: string): void => {
    const problem = folderProblem(flag, path)
    if (problem !== undefined) problems.push(problem)
  }
  if (manifests) folder('--manifests', manifests)
  if (archives && archives !== defaultMountPath) {
    folder('--archives', archives)
  }
  if (tlsCertPath && tlsCertKey) {
    await attempt(() => readTlsFiles({ certPath: tlsCertPath, keyPath: tlsCertKey }))
  }
  if (gpgPrivateKeyPath) await attempt(() => checkSigningKey(gpgPrivateKeyPath, gpgPassphrase))
  return problems
}

/** Lists problems with the connection to the cluster, unless the server reads a folder. */
export function clusterProblems({
  manifests,
  kubeconfig,
}: Pick<ServerCommandOptions, 'manifests' | 'kubeconfig'>): string[] {
  if (manifests !== undefined) return []
  try {
    loadConnection({ kubeconfig, env: process.env })
    return []
  } catch (error) {
    return [messageOf(error)]
  }
}
