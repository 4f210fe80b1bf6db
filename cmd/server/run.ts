import { statSync } from 'node:fs'
import { constants } from 'node:os'
import { Catalog, type VersionRow } from '../../pkg/catalog/catalog.ts'
import { messageOf } from '../../pkg/errors/errors.ts'
import { type ManifestSource, watchManifests } from '../../pkg/manifests/manifests.ts'
import { authModeOf, OptionsError, type ServerOptions } from '../../pkg/options/options.ts'
import { readTlsFiles, startServer } from '../../pkg/server/server.ts'
import { loadSigner } from '../../pkg/signing/signing.ts'
import { createArchives } from '../../pkg/storage/storage.ts'
import {
  createLogger,
  createMetrics,
  type Logger,
  type Metrics,
} from '../../pkg/telemetry/telemetry.ts'
import { archiveProbe } from './archive-probe.ts'
import { observeCatalog } from './catalog-metrics.ts'
import { unbuilt } from './unbuilt.ts'

export interface RunOptions {
  readonly options: ServerOptions
  readonly secrets: { readonly gpgPassphrase: string | undefined }
  readonly version: string
}

/**
 * Runs the server until SIGTERM or SIGINT.
 *
 * @throws OptionsError naming everything that keeps it from starting
 */
export async function run({ options, secrets, version }: RunOptions): Promise<void> {
  const log = createLogger(options.logLevel)
  const metrics = createMetrics({ version })
  const { signer, tls, problems } = await prepare({ options, secrets, log, metrics })
  if (problems.length > 0) throw new OptionsError(problems)

  const leftOut = (row: VersionRow): void =>
    log.warn(
      { component: 'catalog', namespace: row.namespace, name: row.name, version: row.version },
      'version left out: it is not a semantic version',
    )
  const catalog = new Catalog({ onLeftOut: leftOut })
  observeCatalog(catalog, metrics)
  const archives = createArchives({
    filesystemMountPath: options.filesystemMountPath,
    log,
    metrics,
  })

  let source: ManifestSource | undefined
  const server = await startServer({
    ...options,
    tls,
    catalog,
    archives,
    signer,
    log,
    metrics,
    waitingFor: () => (source === undefined ? ['the manifests are being read'] : []),
  }).catch((error: unknown) => {
    throw new OptionsError([portProblem(options, error)])
  })
  log.info(
    { url: server.url, adminUrl: server.adminUrl, version, mode: authModeOf(options) },
    'listening',
  )

  const stopping = untilSignal(log)
  source = await watchManifests({
    dir: options.manifests as string,
    apiGroup: options.apiGroup,
    sink: catalog,
    probe: archiveProbe(archives),
    log,
    metrics,
  })
  log.info({ versions: catalog.count('Version') }, 'ready')

  await stopping
  await server.stop(options.shutdownGracePeriodMs)
  await source.close()
  signer?.close()
  log.info('stopped')
}

interface Prepared {
  readonly signer: Awaited<ReturnType<typeof loadSigner>> | undefined
  readonly tls: Parameters<typeof readTlsFiles>[0] | undefined
  readonly problems: readonly string[]
}

/** Tries everything that the operator named before anything is opened, so that all mistakes come in one message. */
async function prepare({
  options,
  secrets,
  log,
  metrics,
}: Omit<RunOptions, 'version'> & { log: Logger; metrics: Metrics }): Promise<Prepared> {
  const problems = unbuilt(options)
  const attempt = async <T>(action: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await action()
    } catch (error) {
      problems.push(messageOf(error))
      return undefined
    }
  }
  const { manifests, tlsCertPath, tlsCertKey, gpgPrivateKeyPath } = options
  if (manifests !== undefined) await attempt(() => requireFolder('--manifests', manifests))
  const tls = tlsCertPath && tlsCertKey ? { certPath: tlsCertPath, keyPath: tlsCertKey } : undefined
  if (tls) await attempt(() => readTlsFiles(tls))
  const signer = gpgPrivateKeyPath
    ? await attempt(() =>
        loadSigner({
          privateKeyPath: gpgPrivateKeyPath,
          passphrase: secrets.gpgPassphrase,
          log,
          metrics,
        }),
      )
    : undefined
  return { signer, tls, problems }
}

function requireFolder(flag: string, path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new Error(`${flag}: the folder ${path} does not exist`)
  if (!stat.isDirectory()) throw new Error(`${flag}: ${path} is not a folder`)
}

function portProblem({ listen, adminListen }: ServerOptions, error: unknown): string {
  const { code, port, address } = error as NodeJS.ErrnoException & {
    port?: number
    address?: string
  }
  if (code === undefined || port === undefined) return messageOf(error)
  const flag = port === adminListen.port && port !== listen.port ? '--admin-listen' : '--listen'
  const reason =
    code === 'EADDRINUSE'
      ? 'the port is in use; stop what uses it or choose another'
      : messageOf(error)
  return `${flag}: cannot listen on ${address}:${port}: ${reason}`
}

/** The first signal ends the server in peace, a second one at once. */
function untilSignal(log: Logger): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        log.info({ signal }, 'stopping')
        process.once(signal, () => process.exit(128 + constants.signals[signal]))
        resolve()
      })
    }
  })
}
