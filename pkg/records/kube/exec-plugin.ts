import { spawn } from 'node:child_process'
import type { KubeConfig } from '@kubernetes/client-node'

const timeoutMs = 60_000

/** client-node waits for a plugin for ever and does not tell it which API version is asked for. */
export function superviseExecPlugins(config: KubeConfig): void {
  for (const authenticator of config['authenticators']) {
    if (!('execFn' in authenticator)) continue
    authenticator.execFn = (
      command: string,
      args: readonly string[] | undefined,
      options: { env?: NodeJS.ProcessEnv },
    ) => {
      const exec = config.getCurrentUser()?.exec as { apiVersion?: string } | undefined
      const request = {
        apiVersion: exec?.apiVersion ?? 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        spec: { interactive: false },
      }
      const env = {
        ...(options.env ?? process.env),
        KUBERNETES_EXEC_INFO: JSON.stringify(request),
      }
      return spawn(command, args ?? [], { ...options, env, timeout: timeoutMs })
    }
  }
}
