import { loadSigner } from '../../pkg/archives/signing/signing.ts'
import { createArchives } from '../../pkg/archives/storage/storage.ts'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import { limitHeap } from '../../pkg/base/fast/fast.ts'
import { proxyRules } from '../../pkg/base/http/http.ts'
import {
  authModeOf,
  OptionsError,
  requireNone,
  type ServerCommandOptions,
  serverCommand,
} from '../../pkg/base/options/options.ts'
import { httpPart, opened, type Runnable, run, runCommand } from '../../pkg/base/run/run.ts'
import {
  type AuditLog,
  createLogger,
  createMetrics,
  type Logger,
  logOutput,
  type Metrics,
  openAuditLog,
  programVersion,
} from '../../pkg/base/telemetry/telemetry.ts'
import { Catalog, type VersionRow } from '../../pkg/registry/catalog/catalog.ts'
import { createDownloads } from '../../pkg/registry/downloads/downloads.ts'
import { createForwarding } from '../../pkg/registry/forwarding/forwarding.ts'
import { LatestReadmes } from '../../pkg/registry/readmes/readmes.ts'
import { Search, SearchFeed } from '../../pkg/registry/search/search.ts'
import { startServer } from '../../pkg/registry/server/server.ts'
import { accessProblems, openAccess } from '../access/access.ts'
import { auditOf } from './audit.ts'
import { observeCatalog } from './catalog-metrics.ts'
import { conflictLog } from './conflict-log.ts'
import { sourcePart } from './source.ts'
import { storageSettings } from './storage.ts'
import { clusterProblems, unusableFiles } from './unusable-files.ts'

interface RunOptions {
  readonly options: ServerCommandOptions
  readonly secrets: {
    readonly gpgPassphrase: string | undefined
    readonly valkeyPassword: string | undefined
  }
}

/** How long the last download events may take to reach the store; later ones wait on disk. */
const downloadsCloseMs = 5_000

/** `depot server`. */
export function server(args: readonly string[]): Promise<void> {
  limitHeap()
  return runCommand({
    command: serverCommand,
    args,
    main: serveRegistry,
    alsoWrong: unusableFiles,
  })
}

/**
 * Runs the registry until SIGTERM or SIGINT.
 *
 * @throws OptionsError naming everything that keeps it from starting
 */
async function serveRegistry({ options, secrets }: RunOptions): Promise<undefined> {
  const log = createLogger(options.logLevel, logOutput(options.logFormat))
  const metrics = createMetrics()
  const proxies = proxyRules(process.env)
  requireNone(
    ...proxies.problems,
    ...accessProblems(options),
    ...clusterProblems(options),
    ...(await unusableFiles({ ...options, ...secrets })),
  )
  const { gpgPrivateKeyPath: privateKeyPath, tlsCertPath, tlsCertKey } = options
  const tls = tlsCertPath && tlsCertKey ? { certPath: tlsCertPath, keyPath: tlsCertKey } : undefined
  const passphrase = secrets.gpgPassphrase
  const signing = opened(
    'signing',
    async () => privateKeyPath && (await loadSigner({ privateKeyPath, passphrase, log, metrics })),
    (signer) => (signer ? signer.close() : undefined),
  )

  const leftOut = (row: VersionRow): void =>
    log.warn(
      { component: 'catalog', namespace: row.namespace, name: row.name, version: row.version },
      'version left out: it is not a semantic version',
    )
  const readmes = new LatestReadmes()
  const catalog = new Catalog({
    onLeftOut: leftOut,
    onReadme: readmes.note,
    onConflict: conflictLog(log.child({ component: 'catalog' })),
    apiGroup: options.apiGroup,
    // In a file anyone can write any creation time.
    firstBy: options.manifests === undefined ? 'creation' : 'arrival',
  })
  observeCatalog(catalog, metrics)
  const grantsOf = (namespace: string) => catalog.storageGrants(namespace)
  const settings = storageSettings(options, process.env, grantsOf)
  const archives = createArchives({ ...settings, proxies, log, metrics })
  const { statsValkeyAddr: valkey, statsPath } = options
  const downloads = opened(
    'downloads',
    () =>
      createDownloads({
        store:
          valkey === undefined ? { path: statsPath } : { valkey, password: secrets.valkeyPassword },
        journalDir: `${statsPath}-queue`,
        refreshIntervalMs: options.statsRefreshIntervalMs,
        sink: catalog,
        log,
        metrics,
      }),
    (part) => part.close(downloadsCloseMs),
  )
  const access = opened(
    'access',
    () => openAccess({ options, proxies, catalog, log, metrics }),
    (part) => part.close(),
  )
  const sink = () => access.part.sink
  const source = sourcePart({ options, sink, catalog, readmes, archives, log, metrics })
  const search = new Search(catalog)
  const searchFeed = new SearchFeed({ search, archives, log })
  const audit = opened(
    'audit',
    () => options.auditLog && openAudit(options.auditLog, { log, metrics }),
    (part) => (part ? part.close() : undefined),
  )
  const { listen, adminListen, syncUrl: url } = options
  const mode = authModeOf(options)
  const forwarding = url
    ? createForwarding({ ...options, url, catalog, hasCallers: mode !== 'anonymous' })
    : undefined
  const http = httpPart({
    listen,
    adminListen,
    open() {
      const { auth, broker } = access.part
      return startServer({
        ...options,
        tls,
        catalog,
        search,
        archives,
        signer: signing.part || undefined,
        mcp: options.mcp ? { metrics, version: programVersion } : undefined,
        auth,
        broker,
        forwarding,
        readmes,
        onDownload: (download) => downloads.part.record(download),
        history: (resource, versions) => downloads.part.hourly(resource, versions),
        consumers: (resource) => downloads.part.consumers(resource),
        onRequest: audit.part ? auditOf(audit.part) : undefined,
        log,
        metrics,
        waitingFor: () => [...source.waitingFor(), ...auth.waitingFor()],
        impaired: () => [...auth.impaired(), ...archives.impaired()],
      })
    },
    onListening: (ports) => log.info({ ...ports, version: programVersion, mode }, 'listening'),
  })
  const parts: Runnable[][] = [
    [signing, audit, access, downloads],
    [http],
    [{ name: 'forwarding', start() {}, stop: () => forwarding?.close() }],
    [source, { name: 'auth', start: () => access.part.auth.started.then(() => undefined) }],
    [{ name: 'search', start: () => searchFeed.start(), stop: () => searchFeed.close() }],
  ]
  await run({ groups: parts, log, graceMs: options.shutdownGracePeriodMs }).catch(
    (error: unknown) => {
      throw error instanceof OptionsError ? error : new OptionsError([messageOf(error)])
    },
  )
  return undefined
}

/** @throws OptionsError */
function openAudit(path: string, parts: { log: Logger; metrics: Metrics }): AuditLog {
  try {
    return openAuditLog({ path, ...parts })
  } catch (error) {
    throw new OptionsError([`--audit-log: ${messageOf(error)}`])
  }
}
