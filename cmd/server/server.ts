import { loadSigner } from '../../pkg/archives/signing/signing.ts'
import { createArchives } from '../../pkg/archives/storage/storage.ts'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import { proxyRules } from '../../pkg/base/http/http.ts'
import {
  authModeOf,
  mistakeIn,
  OptionsError,
  requireNone,
  type ServerCommandOptions,
} from '../../pkg/base/options/options.ts'
import { httpPart, opened, type Runnable, run } from '../../pkg/base/run/run.ts'
import {
  createLogger,
  createMetrics,
  type Logger,
  logOutput,
  type Metrics,
  openAuditLog,
  programVersion,
} from '../../pkg/base/telemetry/telemetry.ts'
import type { Readmes } from '../../pkg/records/readme/readme.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { createDownloads } from '../../pkg/registry/downloads/downloads.ts'
import { createForwarding } from '../../pkg/registry/forwarding/forwarding.ts'
import { Search, SearchFeed } from '../../pkg/registry/search/search.ts'
import { startServer } from '../../pkg/registry/server/server.ts'
import { accessProblems, openAccess } from '../access/access.ts'
import { auditOf } from './audit.ts'
import { observeCatalog } from './catalog-metrics.ts'
import { conflictLog } from './conflict-log.ts'
import { sourcePart } from './source.ts'
import { storageSettings } from './storage.ts'
import { clusterProblems, unusableFiles } from './unusable-files.ts'

export { unusableFiles } from './unusable-files.ts'

interface RunOptions {
  readonly options: ServerCommandOptions
  readonly secrets: {
    readonly gpgPassphrase: string | undefined
    readonly valkeyPassword: string | undefined
  }
}

/** Limit for the last download events to reach the store. Later events wait on disk. */
const downloadsCloseMs = 5_000

/**
 * Runs the registry until SIGTERM or SIGINT.
 *
 * @throws OptionsError naming everything that prevents the start
 */
export async function server(
  options: ServerCommandOptions,
  _: readonly string[],
  secrets: RunOptions['secrets'],
): Promise<undefined> {
  const log = createLogger(options.logLevel, logOutput(options.logFormat))
  const metrics = createMetrics()
  const proxies = proxyRules(process.env)
  const given = { options, secrets }
  requireNone(...proxies.problems, ...(await problemsOf(given)))
  const signing = signingPart(given, { log, metrics })
  const catalog = catalogOf(options, (...moved) => source.readmes.note(...moved), log)
  observeCatalog(catalog, metrics)
  const grantsOf = (namespace: string) => catalog.storageGrants(namespace)
  const settings = storageSettings(options, process.env, grantsOf)
  const archives = createArchives({ ...settings, proxies, log, metrics })
  const downloads = downloadsPart(given, { sink: catalog, log, metrics })
  const openingAccess = () => openAccess({ options, proxies, log, metrics }, catalog)
  const access = opened('access', openingAccess, (part) => part.close())
  const sink = () => access.part.sink
  const source = sourcePart({ options, sink, catalog, archives, log, metrics })
  const search = new Search(catalog)
  const searchFeed = new SearchFeed({ search, archives, log })
  const audit = auditPart(options, { log, metrics })
  const { syncUrl: url } = options
  const hasCallers = authModeOf(options) !== 'anonymous'
  const forwarding = url ? createForwarding({ ...options, url, catalog, hasCallers }) : undefined
  const http = listeners(options, log, () => {
    const { auth, broker } = access.part
    return {
      catalog,
      search,
      archives,
      signer: signing.part,
      mcp: options.mcp ? { metrics, version: programVersion } : undefined,
      auth,
      broker,
      forwarding,
      readmes: source.readmes,
      onDownload: (download) => downloads.part.record(download),
      history: (resource, versions) => downloads.part.hourly(resource, versions),
      consumers: (resource) => downloads.part.consumers(resource),
      onRequest: audit.part ? auditOf(audit.part) : undefined,
      log,
      metrics,
      waitingFor: () => [...source.waitingFor(), ...auth.waitingFor()],
      impaired: () => [...auth.impaired(), ...archives.impaired()],
    }
  })
  const parts: Runnable[][] = [
    [signing, audit, access, downloads],
    [http],
    [{ name: 'forwarding', stop: () => forwarding?.close() }],
    [source, { name: 'auth', start: () => access.part.auth.started.then(() => undefined) }],
    [{ name: 'search', start: () => searchFeed.start(), stop: () => searchFeed.close() }],
  ]
  return runAll(parts, options, log)
}

const problemsOf = async ({ options, secrets }: RunOptions): Promise<string[]> => [
  ...accessProblems(options),
  ...clusterProblems(options),
  ...(await unusableFiles({ ...options, ...secrets })),
]

/** @throws OptionsError if a part cannot start */
async function runAll(
  groups: readonly Runnable[][],
  { shutdownGracePeriodMs: graceMs }: ServerCommandOptions,
  log: Logger,
): Promise<undefined> {
  await run({ groups, log, graceMs }).catch((error: unknown) => {
    throw error instanceof OptionsError ? error : new OptionsError([messageOf(error)])
  })
  return undefined
}

function catalogOf(options: ServerCommandOptions, onReadme: Readmes['note'], log: Logger): Catalog {
  return new Catalog({
    onLeftOut: ({ namespace, name, version }) =>
      log.warn(
        { component: 'catalog', namespace, name, version },
        'version left out: it is not a semantic version',
      ),
    onReadme,
    onConflict: conflictLog(log.child({ component: 'catalog' })),
    apiGroup: options.apiGroup,
    // Anyone can write any creation time into a file.
    firstBy: options.manifests === undefined ? 'creation' : 'arrival',
  })
}

/** Counts downloads. */
function downloadsPart(
  { options, secrets }: RunOptions,
  parts: Telemetry & Pick<Parameters<typeof createDownloads>[0], 'sink'>,
) {
  const { statsValkeyAddr: valkey, statsPath: path, statsRefreshIntervalMs } = options
  const store = valkey === undefined ? { path } : { valkey, password: secrets.valkeyPassword }
  return opened(
    'downloads',
    () =>
      createDownloads({
        store,
        journalDir: `${path}-queue`,
        refreshIntervalMs: statsRefreshIntervalMs,
        ...parts,
      }),
    (part) => part.close(downloadsCloseMs),
  )
}

type ServerParts = Parameters<typeof startServer>[0]
/** Parts that are not options. */
type OtherParts = Omit<ServerParts, keyof ServerCommandOptions | 'tls'> &
  Pick<ServerParts, 'archives'> & { readonly mcp: ServerParts['mcp'] }

/** Opens both ports. @param parts is called when they are opened */
function listeners(options: ServerCommandOptions, log: Logger, parts: () => OtherParts): Runnable {
  const { listen, adminListen, tlsCertPath, tlsCertKey } = options
  const tls = tlsCertPath && tlsCertKey ? { certPath: tlsCertPath, keyPath: tlsCertKey } : undefined
  const mode = authModeOf(options)
  return httpPart({
    listen,
    adminListen,
    open: () => startServer({ ...options, tls, ...parts() }),
    onListening: (ports) => log.info({ ...ports, version: programVersion, mode }, 'listening'),
  })
}

interface Telemetry {
  readonly log: Logger
  readonly metrics: Metrics
}

/** Undefined without a key. */
function signingPart({ options, secrets }: RunOptions, telemetry: Telemetry) {
  const { gpgPrivateKeyPath: privateKeyPath } = options
  const { gpgPassphrase: passphrase } = secrets
  const load = async () =>
    privateKeyPath ? loadSigner({ privateKeyPath, passphrase, ...telemetry }) : undefined
  return opened('signing', load, (signer) => signer?.close())
}

/** Undefined without a file. Starting it throws OptionsError. */
function auditPart({ auditLog: path }: ServerCommandOptions, telemetry: Telemetry) {
  const open = async () => (path ? openAuditLog({ path, ...telemetry }) : undefined)
  return opened(
    'audit',
    () => open().catch(mistakeIn('--audit-log')),
    (log) => log?.close(),
  )
}
