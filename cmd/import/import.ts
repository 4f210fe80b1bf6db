import { join } from 'node:path'
import type { ImportCommandOptions } from '../../pkg/base/options/options.ts'
import { stdout, stopOnSignals, temporaryFolder } from '../../pkg/base/run/run.ts'
import { createLogger, createMetrics, logOutput } from '../../pkg/base/telemetry/telemetry.ts'
import { localNetworks } from '../../pkg/fill/egress/egress.ts'
import { openFetching } from '../../pkg/fill/fetching/fetching.ts'
import { importAll, unsignedRemedy } from '../../pkg/fill/importing/importing.ts'
import { onlyOne } from '../sync/sync.ts'
import { readInputs } from './inputs.ts'
import { Progress } from './progress.ts'

export { storageIn } from './inputs.ts'

const githubHosts = ['github.com', 'api.github.com', 'codeload.github.com']
const secretName = 'import'

/**
 * Imports everything that is not stored yet.
 *
 * @returns 1 if something failed, 130 or 143 after a signal
 * @throws OptionsError naming every mistake
 */
async function importArchives(
  options: ImportCommandOptions,
  operands: readonly string[],
  { token }: { readonly token: string | undefined },
): Promise<number> {
  const { name, system, dryRun, manifests } = options
  const { addresses, hosts, storage, chosen } = await readInputs(options, token, operands)
  const stopped = new AbortController()
  const stop = () => stopped.abort(new Error('another process has locked the folder'))
  await using _ = dryRun ? undefined : await onlyOne(manifests, 'depot import', stop)
  const spoolDir = options.spoolDir ?? temporaryFolder('--spool-dir', 'depot-import')
  await using fetching = await openFetching({
    options: {
      ...options,
      spoolDir,
      githubSecretName: secretName,
      githubApiUrl: 'https://api.github.com',
      upstreamHosts: hosts.length > 0 ? hosts : ['registry.opentofu.org'],
      sourceHosts: githubHosts,
      egressPrivateCidrs: localNetworks,
      egressPublicDownloads: true,
    },
    env: process.env,
    secret: async () => (token === undefined ? undefined : { token: Buffer.from(token) }),
    unsignedRemedy,
    log: createLogger(options.logLevel, logOutput(options.logFormat, 2)),
    metrics: createMetrics(),
  })
  using signals = stopOnSignals(stopped)
  const progress = new Progress(stdout, { sources: addresses.length, dryRun })
  try {
    const result = await importAll({
      ...options,
      ...fetching,
      addresses,
      store: fetching.archives,
      storage,
      manifestsDir: manifests,
      module: name !== undefined && system !== undefined ? { name, system } : undefined,
      secretName: token === undefined ? undefined : secretName,
      chosen,
      workDir: join(spoolDir, 'work'),
      signal: stopped.signal,
      onEvent: (event) => progress.event(event),
    })
    progress.end(result)
    return result.failed > 0 ? 1 : 0
  } catch (error) {
    if (!stopped.signal.aborted) throw error
    progress.stopped()
    return signals.status() ?? 1
  }
}

// The name of the command.
export { importArchives as import }
