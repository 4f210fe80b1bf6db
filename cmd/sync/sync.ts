import { constants } from 'node:os'
import { limitHeap } from '../../pkg/base/fast/fast.ts'
import { type FolderLock, lockFolder } from '../../pkg/base/folderlock/folderlock.ts'
import { mistakeIn, requireNone, type SyncCommandOptions } from '../../pkg/base/options/options.ts'
import {
  endWithin,
  folderProblem,
  madeFolderProblem,
  type Runnable,
  run,
  type StatusLine,
  statusLine,
  stdout,
  temporaryFolder,
} from '../../pkg/base/run/run.ts'
import {
  createLogger,
  createMetrics,
  type Logger,
  logOutput,
} from '../../pkg/base/telemetry/telemetry.ts'
import { openFetching } from '../../pkg/fill/fetching/fetching.ts'
import { type Sync, startSync } from '../../pkg/fill/sync/sync.ts'
import { type FolderObjects, folderObjects } from '../../pkg/records/store/store.ts'
import { checkFolder, type OpenFolder } from './check.ts'
import { untilEnd } from './end.ts'
import { outcomeOf, problemsOf, type RunTally, summaryOf, trackProgress } from './report.ts'

/** Limit for running work to end after a signal. Then it is aborted. */
const graceMs = 5_000

/**
 * Fills a folder as its manifests say, once or until a signal.
 *
 * @returns 1 if something failed, 130 or 143 after a signal that stopped a single run
 * @throws OptionsError naming everything that prevents the start
 */
export async function sync(options: SyncCommandOptions): Promise<number> {
  limitHeap()
  // The end of a single run lists everything that failed, once.
  const level = options.logLevel ?? (options.watch ? 'warn' : 'error')
  const log = createLogger(level, logOutput(options.logFormat, 2))
  const metrics = createMetrics()
  const { manifests: dir, archives: mountPath } = options
  const spoolDir = options.spoolDir ?? temporaryFolder('--spool-dir', 'depot-sync')
  const archivesProblem = options.check ? folderProblem : madeFolderProblem
  requireNone(folderProblem('--manifests', dir), archivesProblem('--archives', mountPath))
  const parts = { options: { ...options, spoolDir }, log, metrics }
  if (options.check) return await inFolder(parts, (folder) => checkFolder(options, folder))
  const lost = new AbortController()
  await using _ = await onlyOne(dir, 'depot sync', () => lost.abort())
  return await inFolder(parts, (folder) => fill(options, folder, lost.signal))
}

/** Opens the folder and what fetching needs, and closes both at the end of the work. */
async function inFolder(
  parts: Pick<Parameters<typeof openFetching>[0], 'log' | 'metrics'> & {
    readonly options: SyncCommandOptions & { readonly spoolDir: string }
  },
  work: (folder: OpenFolder) => Promise<number>,
): Promise<number> {
  const { options } = parts
  const { apiGroup, manifests: dir, watch } = options
  // A check prints mistakes of the manifests with its result.
  const log = options.check ? createLogger('silent') : parts.log
  const objects = await folderObjects({ dir, apiGroup, watch, log })
  const secret = (namespace: string, name: string) => objects.secret(namespace, name)
  await using fetching = await openFetching({ ...parts, env: process.env, secret })
  try {
    return await work({ ...parts, objects, fetching })
  } finally {
    await objects.close()
  }
}

async function fill(
  options: SyncCommandOptions,
  { objects, fetching, log, metrics }: OpenFolder,
  lost: AbortSignal,
): Promise<number> {
  const { apiGroup } = options
  const line = options.output === 'json' ? silentLine : statusLine(stdout)
  const tally = { stored: 0, storedAgain: 0, removed: 0 }
  const forget = trackProgress(objects, line, tally)
  const started = () =>
    startSync({
      objects,
      ...fetching,
      apiGroup,
      confirmRemovals: options.confirmRemovals,
      log,
      metrics,
      timings: { removalGraceMs: options.removalGraceMs },
      providerSources: options.providerSources,
      tries: 3,
      // Poll times are not saved if nothing else changed.
      pollAtStart: true,
      // Folders of archives are copied, cleaned and restored by hand between two runs.
      verifyAtStart: options.verify ? 'read' : 'look',
    })
  const work = async () =>
    options.watch
      ? await follow(await started(), log, lost)
      : await once(await started(), objects, { options, line, tally, log, lost })
  // Another process may have locked the folder in the meantime.
  const status = lost.aborted ? 1 : await work()
  forget()
  return status
}

async function once(
  work: Sync,
  objects: FolderObjects,
  {
    options,
    line,
    tally,
    log,
    lost,
  }: {
    options: SyncCommandOptions
    line: StatusLine
    tally: RunTally
    log: Logger
    lost: AbortSignal
  },
): Promise<number> {
  const finished = async () => {
    await work.idle()
    await objects.settled()
    await work.idle()
  }
  const ended = await Promise.race([finished(), untilEnd(lost)])
  const failing = work.failing()
  const nextTryMs = work.nextTryMs()
  await endWithin(work.stop({ isLost: lost.aborted }), graceMs, log)
  line.clear()
  if (ended === 'SIGINT' || ended === 'SIGTERM') {
    line.print(`${summaryOf(objects)}; stopped, run the same command again to go on`)
    return 128 + constants.signals[ended]
  }
  const problems = problemsOf(objects, failing)
  const outcome = outcomeOf(objects, tally, nextTryMs)
  const summary = summaryOf(objects)
  if (options.output === 'json') {
    const result = { schema: 1, ...tally, outcome, summary, problems }
    stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  } else {
    for (const text of [...problems, outcome, summary]) if (text !== '') line.print(text)
  }
  return ended === 'lost' || problems.length > 0 ? 1 : 0
}

/** Prints nothing, so that the result is the only output. */
const silentLine: StatusLine = {
  isTerminal: false,
  print: () => undefined,
  draw: () => undefined,
  clear: () => undefined,
}

async function follow(work: Sync, log: Logger, lost: AbortSignal): Promise<number> {
  const part: Runnable = {
    name: 'sync',
    stop: (cutAfterMs) => endWithin(work.stop({ isLost: lost.aborted }), cutAfterMs, log),
  }
  await run({ groups: [[part]], log, graceMs, until: lost })
  return lost.aborted ? 1 : 0
}

/**
 * Locks a folder against other programs that write to it.
 *
 * @throws OptionsError saying which process writes there, or why this process cannot
 */
export async function onlyOne(
  dir: string,
  program: string,
  onLost: () => void,
): Promise<FolderLock> {
  const stop = (why: string) => {
    process.stderr.write(
      `${program}: ${why}. So this process ends; start it again when it is alone and the folder is back\n`,
    )
    onLost()
  }
  return lockFolder({ dir, program, onLost: stop }).catch(mistakeIn('--manifests'))
}
