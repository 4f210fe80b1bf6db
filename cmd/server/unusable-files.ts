import { accessSync, constants, statSync } from 'node:fs'
import { messageOf } from '../../pkg/errors/errors.ts'
import { loadConnection } from '../../pkg/kube/kube.ts'
import { type ServerOptions, serverCommand } from '../../pkg/options/options.ts'
import { readTlsFiles } from '../../pkg/serving/serving.ts'
import { checkSigningKey } from '../../pkg/signing/signing.ts'

const defaultMountPath = serverCommand.options.filesystemMountPath.default

/**
 * What is wrong with the files and folders that the options name. They are tried before anything is opened, whatever
 * else is wrong, so that all mistakes come in one message.
 */
export async function unusableFiles(
  named: Partial<ServerOptions> & { readonly gpgPassphrase?: string | undefined },
): Promise<string[]> {
  const {
    manifests,
    filesystemMountPath,
    tlsCertPath,
    tlsCertKey,
    gpgPrivateKeyPath,
    gpgPassphrase,
  } = named
  const problems: string[] = []
  const attempt = async (action: () => unknown): Promise<void> => {
    try {
      await action()
    } catch (error) {
      problems.push(messageOf(error))
    }
  }
  if (manifests) await attempt(() => requireFolder('--manifests', manifests))
  if (filesystemMountPath && filesystemMountPath !== defaultMountPath) {
    await attempt(() => requireFolder('--filesystem-mount-path', filesystemMountPath))
  }
  if (tlsCertPath && tlsCertKey) {
    await attempt(() => readTlsFiles({ certPath: tlsCertPath, keyPath: tlsCertKey }))
  }
  if (gpgPrivateKeyPath) await attempt(() => checkSigningKey(gpgPrivateKeyPath, gpgPassphrase))
  return problems
}

/** What is wrong with the way to the cluster, where the server is to read from one. */
export function clusterProblems({
  manifests,
  kubeconfig,
}: Pick<ServerOptions, 'manifests' | 'kubeconfig'>): string[] {
  if (manifests !== undefined) return []
  try {
    loadConnection({ kubeconfig, env: process.env })
    return []
  } catch (error) {
    return [messageOf(error)]
  }
}

function requireFolder(flag: string, path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new Error(`${flag}: the folder ${path} does not exist`)
  if (!stat.isDirectory()) throw new Error(`${flag}: ${path} is not a folder`)
  try {
    accessSync(path, constants.R_OK | constants.X_OK)
  } catch {
    throw new Error(`${flag}: the folder ${path} may not be read by this user`)
  }
}
