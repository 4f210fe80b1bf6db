import { resolve } from 'node:path'
import { openSpool } from '../../pkg/archives/spool/spool.ts'
import { openArchiveStore, storageOfEnvironment } from '../../pkg/archives/storage/storage.ts'
import { limitHeap } from '../../pkg/base/fast/fast.ts'
import { KernelLock } from '../../pkg/base/folderlock/folderlock.ts'
import { proxyRules } from '../../pkg/base/http/http.ts'
import {
  OptionsError,
  requireNone,
  type ScannerCommandOptions,
} from '../../pkg/base/options/options.ts'
import {
  endWithin,
  folderProblem,
  httpPart,
  madeFolderProblem,
  type Runnable,
  run,
  stdout,
} from '../../pkg/base/run/run.ts'
import { serveAdmin } from '../../pkg/base/serving/serving.ts'
import {
  createLogger,
  createMetrics,
  logOutput,
  programVersion,
} from '../../pkg/base/telemetry/telemetry.ts'
import { limitsOf } from '../../pkg/fill/fetching/fetching.ts'
import {
  execScanner,
  type ScanOptions,
  type Scans,
  startScans,
  trivyScanner,
} from '../../pkg/fill/scan/scan.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import { clusterObjects, folderObjects, type Objects } from '../../pkg/records/store/store.ts'
import { onlyOne } from '../sync/sync.ts'

/** Scans a cluster until it is stopped, or a folder once. @returns 1 if a scan of the folder failed */
export function scanner(options: ScannerCommandOptions): Promise<number | undefined> {
  limitHeap()
  const { manifests: dir } = options
  return dir === undefined ? scanCluster(options) : scanFolder({ ...options, dir })
}

/**
 * Scans the archives of a folder of manifests, once.
 *
 * @returns 1 if a scan failed
 * @throws OptionsError if the folder cannot be used
 */
async function scanFolder(options: ScannerCommandOptions & { dir: string }): Promise<number> {
  const { dir, apiGroup, output } = options
  requireNone(folderProblem('--manifests', dir))
  // The end of a run lists every failure once.
  const log = createLogger('error', logOutput(options.logFormat, 2))
  const lost = Promise.withResolvers<'lost'>()
  await using _ = await onlyOne(dir, 'depot scanner', () => lost.resolve('lost'))
  const objects = await folderObjects({ dir, apiGroup, watch: false, log })
  const metrics = createMetrics()
  const scans = await beginScans(options, { objects, clock: Date.now, log, metrics })
  const end = await Promise.race([scans.idle(), lost.promise])
  const { done } = scans
  const failed = scans.failures().map(({ key, message }) => `${key}: ${message}`)
  const failures = [...objects.mistakes(), ...failed]
  if (end === 'lost') {
    failures.push(`${dir}: this process lost its lock, so the rest was not scanned: run it again`)
  }
  await scans.stop()
  await objects.close()
  if (output === 'json') {
    stdout.write(`${JSON.stringify({ schema: 1, scanned: done, failures }, null, 2)}\n`)
  } else {
    const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`
    const summary = `${count(done, 'archive')} scanned, ${count(failures.length, 'failure')}`
    stdout.write(`${[...failures, summary].join('\n')}\n`)
  }
  return failures.length > 0 ? 1 : 0
}

/**
 * Scans the archives of a cluster until SIGTERM or SIGINT.
 *
 * @throws OptionsError naming everything that prevents the start
 */
async function scanCluster(options: ScannerCommandOptions): Promise<undefined> {
  const { apiGroup, watchNamespaces: namespaces, kubeconfig, adminListen } = options
  const log = createLogger(options.logLevel, logOutput(options.logFormat))
  const metrics = createMetrics()
  const connection = loadConnection({ kubeconfig, env: process.env })
  const cluster = openCluster({ connection, apiGroup, log, metrics })
  let scans: Awaited<ReturnType<typeof beginScans>> | undefined
  const work: Runnable = {
    name: 'scans',
    async start() {
      const objects = clusterObjects({
        cluster,
        client: cluster.client,
        apiGroup,
        // Scanners may read no other kinds.
        kinds: ['Module', 'Provider', 'Version'],
        namespaces,
        notes: { namespace: 'default', name: 'none' },
        instance: 'scanner',
        log,
      })
      scans = await beginScans(options, { objects, clock: cluster.serverClock, log, metrics })
      log.info({ versions: objects.list('Version').length }, 'ready')
    },
    async stop(graceMs) {
      if (scans !== undefined) await endWithin(scans.stop(), graceMs, log)
      await cluster.close()
    },
  }
  const waitingFor = () =>
    scans === undefined ? ['resources are being read from the cluster'] : []
  const admin = httpPart({
    adminListen,
    open: () => serveAdmin({ adminListen, metrics, waitingFor }),
    onListening: (ports) => log.info({ ...ports, version: programVersion }, 'listening'),
  })
  await run({ groups: [[admin], [work]], log, graceMs: options.shutdownGracePeriodMs })
  return undefined
}

/** @throws OptionsError naming every option that cannot be used */
async function beginScans(
  options: ScannerCommandOptions,
  { objects, ...parts }: Pick<ScanOptions, 'clock' | 'log' | 'metrics'> & { objects: Objects },
): Promise<Scans> {
  const { workDir } = options
  const proxies = proxyRules(process.env)
  const storage = storageOfEnvironment(process.env)
  const folder = madeFolderProblem('--work-dir', workDir, 0o700)
  requireNone(...proxies.problems, ...storage.problems, folder)
  const lock = KernelLock.take(workDir, '.depot-scanner.lock.db')
  if (lock === undefined) {
    const problem = `--work-dir: another scanner uses ${workDir}: give each a folder of its own, or wait for its end`
    throw new OptionsError([problem])
  }
  const spool = await openSpool({
    dir: resolve(workDir, 'archives'),
    sizeBytes: options.workSizeBytes,
  })
  const settings = { filesystemMountPath: options.archives, proxies, ...storage.settings }
  return startScans({
    objects,
    archives: openArchiveStore(settings),
    spool,
    limits: limitsOf(options),
    scanner: archiveScanner(options),
    isOffline: options.scannerOffline,
    scansProviders: options.scanProviders,
    workDir: resolve(workDir, 'unpacked'),
    slots: options.scanSlots,
    deadlineMs: options.scanDeadlineMs,
    rescanMs: options.rescanIntervalMs,
    defaultPolicy: options.block && { block: options.block, onMissing: 'Serve' },
    ...parts,
    onStopped: async () => {
      await spool.close()
      lock.release()
    },
  })
}

/** Paths are absolute, because scanners run in folders of their own. */
function archiveScanner(options: ScannerCommandOptions) {
  const { scanner: kind, scannerOffline: isOffline } = options
  const command = resolve(options.scannerCommand ?? '/usr/local/bin/trivy')
  if (kind === 'exec') return execScanner(command)
  return trivyScanner({ command, cacheDir: resolve(options.trivyCacheDir), isOffline })
}
