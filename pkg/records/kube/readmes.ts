import { Backoff, pause } from '../../base/pacing/pacing.ts'
import { counter, gauge, type Metrics } from '../../base/telemetry/telemetry.ts'
import { list } from './list.ts'
import type { ListTarget } from './list-target.ts'
import type { ObservedObject } from './object.ts'
import { Outcome } from './outcome.ts'
import { ReadmeStore } from './readme-store.ts'
import { Reflector, type ReflectorOptions } from './reflector.ts'

/** READMEs of module versions, which live in ConfigMaps. */
export interface Readmes {
  /** Counts whatever may change what `get` returns. */
  readonly revision: number
  /** Keeps the README of a ConfigMap from now on, and fetches it where the watch does not bring it. */
  want(namespace: string, name: string): void
  forget(namespace: string, name: string): void
  /** The README of a Version as text; undefined if there is none, not yet, or none of its own. Never waits. */
  get(namespace: string, name: string, key: string, version: string): string | undefined
}

const parallelFetches = 4

/**
 * Watches the ConfigMaps that carry the label `GROUP/readme`, and asks by name for those that are wanted and do not carry
 * it. Begins with the first one that is wanted.
 */
export function watchReadmes(
  options: Omit<ReflectorOptions, 'target' | 'store'>,
  {
    apiGroup,
    watchNamespace,
    metrics,
  }: { apiGroup: string; watchNamespace?: string | undefined; metrics: Metrics },
  signal: AbortSignal,
): { readonly readmes: Readmes; readonly ended: () => Promise<unknown> } {
  const missing = new Map<string, readonly [namespace: string, name: string]>()
  const fetching = new Set<Promise<void>>()
  let watching: Promise<void> | undefined
  let isSynced = false

  const dropped = counter(metrics, {
    name: 'readmes_dropped_total',
    help: 'READMEs that were dropped because there was no room; they are fetched again when they are asked for.',
  })
  const store = new ReadmeStore({
    apiGroup,
    onMissing(namespace, name) {
      missing.set(`${namespace}/${name}`, [namespace, name])
      watching ??= start()
      fetchMissing()
    },
    onDropped: () => dropped.inc(),
  })
  gauge(metrics, {
    name: 'readmes_bytes',
    help: 'Compressed READMEs in memory.',
    collect: (it) => it.set(store.bytes),
  })

  function start(): Promise<void> {
    const target = targetOf(`${apiGroup}/readme`, watchNamespace)
    const reflector = new Reflector({ ...options, target, store: store })
    void fetchOnceSynced(reflector.synced)
    return reflector.run(signal)
  }

  /** Before the watch has brought what it has, it is not known what is missing. */
  async function fetchOnceSynced(synced: Promise<void>): Promise<void> {
    await synced
    isSynced = true
    fetchMissing()
    while (!signal.aborted) {
      await pause(options.timings.readmeRefreshMs, signal)
      for (const [namespace, name] of store.unwatched) {
        missing.set(`${namespace}/${name}`, [namespace, name])
      }
      fetchMissing()
    }
  }

  function fetchMissing(): void {
    if (!isSynced) return
    while (fetching.size < Math.min(parallelFetches, missing.size)) {
      const work = fetchUntilNoneIsMissing().finally(() => fetching.delete(work))
      fetching.add(work)
    }
  }

  async function fetchUntilNoneIsMissing(): Promise<void> {
    const { backoffMs: firstMs, backoffCapMs: capMs } = options.timings
    const backoff = new Backoff({ firstMs, capMs, jitter: 'full', random: options.random })
    for (let [next] = missing; next !== undefined && !signal.aborted; [next] = missing) {
      const [key, [namespace, name]] = next
      missing.delete(key)
      const outcome = store.isWatched(namespace, name) ? undefined : await fetchOne(namespace, name)
      if (outcome === undefined || signal.aborted) continue
      options.log.warn({ namespace, name, reason: outcome.reason }, 'readme could not be read')
      missing.set(key, [namespace, name])
      await pause(backoff.nextMs(), signal)
    }
  }

  async function fetchOne(namespace: string, name: string): Promise<Outcome | undefined> {
    let found: ObservedObject | undefined
    const listed = await list({
      ...options,
      target: byName(namespace, name),
      signal,
      onContact: () => undefined,
      onItem: (object) => {
        found = object
      },
    })
    if (listed instanceof Outcome) return listed
    // Deleted while it was read: what was read is out of date.
    if (!missing.has(`${namespace}/${name}`)) store.fetched(namespace, name, found)
    return undefined
  }

  return { readmes: store, ended: () => Promise.all([watching, ...fetching]) }
}

function targetOf(label: string, namespace: string | undefined): ListTarget {
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return {
    kind: 'ConfigMap',
    resource: 'configmaps',
    path: `/api/v1${scope}/configmaps`,
    query: { labelSelector: label },
    ...(namespace !== undefined && { namespace }),
  }
}

/** A list of one: the server's identity needs to list and to watch, and nothing else. */
function byName(namespace: string, name: string): ListTarget {
  const query = { fieldSelector: `metadata.name=${name}` }
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`
  return { kind: 'ConfigMap', resource: 'configmaps', namespace, path, query }
}
