import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Catalog, type VersionRow } from '../../pkg/catalog/catalog.ts'
import { messageOf } from '../../pkg/errors/errors.ts'
import { authModeOf, OptionsError, type ServerOptions } from '../../pkg/options/options.ts'
import { startServer } from '../../pkg/server/server.ts'
import { loadSigner } from '../../pkg/signing/signing.ts'
import { createArchives } from '../../pkg/storage/storage.ts'
import { createLogger, createMetrics, type Logger } from '../../pkg/telemetry/telemetry.ts'
import { accessProblems, openAccess } from './auth.ts'
import { observeCatalog } from './catalog-metrics.ts'
import { openDownloads } from './downloads.ts'
import { LatestReadmes } from './readmes.ts'
import { openSource } from './source.ts'
import { storageSettings } from './storage.ts'
import { clusterProblems, unusableFiles } from './unusable-files.ts'

export interface RunOptions {
  readonly options: ServerOptions
  readonly secrets: {
    readonly gpgPassphrase: string | undefined
    readonly valkeyPassword: string | undefined
  }
  readonly version: string
}

const settlePollMs = 10

/** How long the last download events may take on their way to the store; after that they wait on disk. */
const downloadsCloseMs = 5_000

/**
 * Runs the server until SIGTERM or SIGINT.
 *
 * @throws OptionsError naming everything that keeps it from starting
 */
export async function run({ options, secrets, version }: RunOptions): Promise<void> {
  const log = createLogger(options.logLevel)
  const metrics = createMetrics({ version })
  const problems = [
    ...accessProblems(options),
    ...clusterProblems(options),
    ...(await unusableFiles({ ...options, ...secrets })),
  ]
  if (problems.length > 0) throw new OptionsError(problems)
  const { gpgPrivateKeyPath: privateKeyPath, tlsCertPath, tlsCertKey } = options
  const tls = tlsCertPath && tlsCertKey ? { certPath: tlsCertPath, keyPath: tlsCertKey } : undefined
  const passphrase = secrets.gpgPassphrase
  const signer = privateKeyPath && (await loadSigner({ privateKeyPath, passphrase, log, metrics }))

  const leftOut = (row: VersionRow): void =>
    log.warn(
      { component: 'catalog', namespace: row.namespace, name: row.name, version: row.version },
      'version left out: it is not a semantic version',
    )
  const readmes = new LatestReadmes()
  const catalog = new Catalog({
    onLeftOut: leftOut,
    onReadme: readmes.note,
    apiGroup: options.apiGroup,
  })
  observeCatalog(catalog, metrics)
  const grantsOf = (namespace: string) => catalog.storageGrants(namespace)
  const settings = storageSettings(options, process.env, grantsOf)
  const archives = createArchives({ ...settings, log, metrics })

  const downloads = openDownloads({ options, secrets, catalog, log, metrics })
  const access = openAccess({ options, catalog, log, metrics })
  const { auth, broker, sink } = access

  const origin = options.manifests === undefined ? 'the cluster' : 'the folder of manifests'
  let loaded = false
  const server = await startServer({
    ...options,
    tls,
    catalog,
    archives,
    signer: signer || undefined,
    auth,
    broker,
    readmes,
    onDownload: (download) => downloads.record(download),
    log,
    metrics,
    waitingFor: () => [
      ...(loaded ? [] : [`resources are being read from ${origin}`]),
      ...auth.waitingFor(),
    ],
  }).catch((error: unknown) => {
    throw new OptionsError([portProblem(options, error)])
  })
  log.info(
    { url: server.url, adminUrl: server.adminUrl, version, mode: authModeOf(options) },
    'listening',
  )

  const stopping = untilSignal(log)
  const source = openSource({ options, sink, archives, log, metrics })
  const loading = source.loaded.then(async () => {
    // Lists are put together in the background; the first reader should find them whole.
    while (!catalog.model.settled) await sleep(settlePollMs)
    loaded = true
    if (source.readmes !== undefined) void readmes.keepIn(source.readmes, catalog)
    log.info({ versions: catalog.count('Version') }, 'ready')
    return undefined
  })
  await Promise.race([Promise.all([loading, auth.started]), stopping]).catch(
    async (error: unknown) => {
      await server.stop(0)
      throw new OptionsError([messageOf(error)])
    },
  )
  await stopping
  await server.stop(options.shutdownGracePeriodMs)
  await downloads.close(downloadsCloseMs)
  if (loaded) await source.close()
  await access.close()
  if (signer) signer.close()
  log.info('stopped')
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
