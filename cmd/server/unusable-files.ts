import { statSync } from 'node:fs'
import { messageOf } from '../../pkg/errors/errors.ts'
import { loadConnection } from '../../pkg/kube/kube.ts'
import type { ServerOptions } from '../../pkg/options/options.ts'
import { readTlsFiles } from '../../pkg/server/server.ts'
import { checkSigningKey } from '../../pkg/signing/signing.ts'

/**
 * What is wrong with the files and folders that the options name. They are tried before anything is opened, whatever
 * else is wrong, so that all mistakes come in one message.
 */
export async function unusableFiles(
  named: Partial<ServerOptions> & { readonly gpgPassphrase?: string | undefined },
): Promise<string[]> {
  const { manifests, kubeconfig, tlsCertPath, tlsCertKey, gpgPrivateKeyPath, gpgPassphrase } = named
  const problems: string[] = []
  // A value that could not be read leaves open what was wanted.
  const wantsCluster = 'manifests' in named && manifests === undefined
  const attempt = async (action: () => unknown): Promise<void> => {
    try {
      await action()
    } catch (error) {
      problems.push(messageOf(error))
    }
  }
  if (manifests) await attempt(() => requireFolder('--manifests', manifests))
  else if (wantsCluster) await attempt(() => loadConnection({ kubeconfig, env: process.env }))
  if (tlsCertPath && tlsCertKey) {
    await attempt(() => readTlsFiles({ certPath: tlsCertPath, keyPath: tlsCertKey }))
  }
  if (gpgPrivateKeyPath) await attempt(() => checkSigningKey(gpgPrivateKeyPath, gpgPassphrase))
  return problems
}

function requireFolder(flag: string, path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new Error(`${flag}: the folder ${path} does not exist`)
  if (!stat.isDirectory()) throw new Error(`${flag}: ${path} is not a folder`)
}
