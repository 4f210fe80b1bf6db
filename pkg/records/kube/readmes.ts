import { Backoff, eachLimited, Loop } from '../../base/pacing/pacing.ts'
import { counter, gauge, type Metrics } from '../../base/telemetry/telemetry.ts'
import { readmeLabel } from '../readme/readme.ts'
import type { ClusterReadmes } from './cluster-readmes.ts'
import { list, type ObservedObject, targetOf } from './list-watch.ts'
import { Outcome } from './outcome.ts'
import { Reflector, type ReflectorOptions } from './reflector.ts'

const parallelRequests = 4

interface ReadmeWatchOptions extends Omit<ReflectorOptions, 'target' | 'store'> {
  readonly readmes: ClusterReadmes
  readonly apiGroup: string
  /** Default: all namespaces. */
  readonly watchNamespace?: string | undefined
  readonly metrics: Metrics
  /** Stops the watch. */
  readonly signal: AbortSignal
}

type Failure = Readonly<Record<'configMap' | 'reason' | 'error', string>>

/**
 * Watches the ConfigMaps with the README label, and requests by name those that are wanted and lack it. It starts with the
 * first one that is wanted.
 *
 * @returns a function that resolves when the watch and all requests have ended
 */
export function watchReadmes(options: ReadmeWatchOptions): () => Promise<unknown> {
  const { readmes, apiGroup, watchNamespace, timings, random, log, signal } = options
  const { backoffMs: firstMs, backoffCapMs: capMs, readmeRefreshMs } = timings
  const backoff = new Backoff({ firstMs, capMs, jitter: 'full', random })
  const missing = new Set<string>()
  let refreshAtMs = 0
  let watching: Promise<void> | undefined
  const query = { labelSelector: readmeLabel(apiGroup) }
  const target = { ...targetOf('ConfigMap', apiGroup, { watchNamespace }), query }
  const reflector = new Reflector({ ...options, target, store: readmes })
  const loop = new Loop(async () => {
    if (performance.now() >= refreshAtMs) {
      for (const id of readmes.unwatched) missing.add(id)
      refreshAtMs = performance.now() + readmeRefreshMs
    }
    const failures: Failure[] = []
    await eachLimited(missing, parallelRequests, async (id) => {
      if (failures.length === 0) failures.push(...(await request(options, missing, id)))
    })
    const [failure] = failures
    if (failure !== undefined && !signal.aborted) {
      log.warn(failure, 'readme could not be read')
      return backoff.nextMs()
    }
    backoff.reset()
    return refreshAtMs - performance.now()
  })
  // Missing ConfigMaps are unknown before the first list of the watch is complete.
  void reflector.synced.then(() => loop.schedule(0))
  readmes.fillBy((id) => {
    missing.add(id)
    watching ??= reflector.run(signal)
    if (reflector.isSynced) loop.schedule(0)
  })
  measure(options)
  return () => Promise.all([watching, loop.close()])
}

/** Requests a ConfigMap by name. @returns the failure, if there was one */
async function request(
  options: ReadmeWatchOptions,
  missing: Set<string>,
  id: string,
): Promise<Failure[]> {
  const { readmes, apiGroup } = options
  missing.delete(id)
  if (readmes.isWatched(id)) return []
  const [namespace, name] = id.split('/')
  // Reads a list of one item, because the server's identity may only list and watch.
  const query = { fieldSelector: `metadata.name=${name}` }
  let found: ObservedObject | undefined
  const listed = await list({
    ...options,
    target: { ...targetOf('ConfigMap', apiGroup, { watchNamespace: namespace }), query },
    onContact: () => undefined,
    onItem: (object) => {
      found = object
    },
  })
  if (listed instanceof Outcome) {
    missing.add(id)
    return [{ configMap: id, reason: listed.reason, error: listed.message }]
  }
  // Otherwise, it was deleted while it was read, so the answer is outdated.
  if (!missing.has(id)) readmes.fetched(id, found)
  return []
}

function measure({ readmes, metrics }: ReadmeWatchOptions): void {
  counter(metrics, {
    name: 'readmes_dropped_total',
    help: 'READMEs that were dropped to save memory; they are fetched again when they are read.',
    collect: (it) => {
      it.reset()
      it.inc(readmes.dropped)
    },
  })
  gauge(metrics, {
    name: 'readmes_bytes',
    help: 'Compressed READMEs in memory.',
    collect: (it) => it.set(readmes.bytes),
  })
}
