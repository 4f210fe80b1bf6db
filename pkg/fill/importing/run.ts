import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { mayPass, ReasonError } from '../../base/errors/errors.ts'
import { explained } from '../egress/egress.ts'
import { FillError } from '../sources/sources.ts'
import { nameOf } from './address.ts'
import { type ImportItem, labelOf } from './item.ts'
import { itemsOf } from './items.ts'
import { Manifests } from './manifests.ts'
import { type RetryOptions, retrying } from './retrying.ts'
import { isStored, type StoreContext, storeItem } from './store-item.ts'
import type { ArchiveEvent, ImportOptions, ImportResult } from './types.ts'

/** Maximum number of stored archives without a manifest: a killed import fetches so many again. */
const maxRecording = 1_000

/** The result of an item, and the work that writes its manifests. */
interface Step {
  readonly event: ArchiveEvent
  readonly record?: () => Promise<void>
}

/**
 * Imports every archive that is not stored yet. A failure is reported and counted, and does not stop other imports. The next
 * source is listed while archives of the previous one are fetched.
 */
export async function importAll(options: ImportOptions): Promise<ImportResult> {
  const { manifestsDir, onEvent, parallel, signal, retryMs } = options
  const counts = { stored: 0, present: 0, planned: 0, failed: 0 }
  await mkdir(options.workDir, { recursive: true, mode: 0o700 })
  const workDir = await mkdtemp(join(options.workDir, 'import-'))
  const manifests = new Manifests({ ...options, directory: manifestsDir })
  const retry = {
    signal,
    retryMs,
    onWait: (wait) => onEvent({ kind: 'waiting', ...wait }),
  } satisfies RetryOptions
  const context = { ...options, manifests, workDir }
  const end = (event: ArchiveEvent) => {
    counts[event.outcome] += 1
    onEvent(event)
  }
  const items = allItems(options, retry, end)
  /** By label: another archive of the same version waits, and then finds the stored one. */
  const running = new Map<string, Promise<void>>()
  const finish = async (item: ImportItem, { event, record }: Step): Promise<void> => {
    try {
      await record?.()
      end(event)
    } catch (error) {
      end(failedEvent(labelOf(item), error))
    }
  }
  const work = async () => {
    for (let next = await items.next(); next.done !== true; next = await items.next()) {
      const item = next.value
      const label = labelOf(item)
      while (running.has(label)) await running.get(label)
      const step = importItem(item, context, retry)
      const whole = step.then(
        (done) => finish(item, done),
        () => undefined,
      )
      running.set(label, whole)
      void whole.finally(() => running.delete(label))
      await step
      if (running.size >= maxRecording) await Promise.race(running.values())
    }
  }
  try {
    const workers = await Promise.allSettled(Array.from({ length: parallel }, work))
    await Promise.all(running.values())
    // Every worker has ended, so nothing is written any more.
    for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  } finally {
    await rm(workDir, { recursive: true, force: true })
  }
  return counts
}

async function* allItems(
  options: ImportOptions,
  retry: RetryOptions,
  end: (event: ArchiveEvent) => void,
): AsyncGenerator<ImportItem, void> {
  const { addresses, signal, onEvent } = options
  for (const address of addresses) {
    signal.throwIfAborted()
    try {
      const { items, unusable } = await retrying(() => itemsOf(address, options), retry)
      onEvent({ kind: 'listed', address, count: items.length + unusable.length })
      for (const each of unusable) end({ kind: 'archive', outcome: 'failed', ...each })
      yield* items
    } catch (error) {
      signal.throwIfAborted()
      // An address that cannot be listed counts as one failed archive.
      onEvent({ kind: 'listed', address, count: 1 })
      end(failedEvent(nameOf(address), error))
    }
  }
}

async function importItem(
  item: ImportItem,
  context: StoreContext & { readonly dryRun: boolean },
  retry: RetryOptions,
): Promise<Step> {
  const { manifests, dryRun, signal } = context
  const kind = 'archive'
  const label = labelOf(item)
  try {
    if (await isStored(item, context)) {
      const event = { kind, label, outcome: 'present' } as const
      return dryRun ? { event } : { event, record: () => manifests.complete(item) }
    }
    if (dryRun) return { event: { kind, label, outcome: 'planned' } }
    const stored = await retrying(() => storeItem(item, context), retry)
    const { sizeBytes } = stored.upload
    return {
      event: { kind, label, outcome: 'stored', sizeBytes },
      record: () => manifests.write(item, stored),
    }
  } catch (error) {
    signal.throwIfAborted()
    return { event: failedEvent(label, error) }
  }
}

/** How to accept a provider without a signature, for the sources of an import. */
export const unsignedRemedy = 'add --unsigned to accept it nevertheless'

const withCredential: ReadonlySet<string> = new Set(['AccessDenied', 'UpstreamNotFound'])

function failedEvent(label: string, error: unknown): ArchiveEvent {
  const needsToken = error instanceof FillError && withCredential.has(error.reason)
  const where = needsToken ? '; the credential of an import is the token in DEPOT_IMPORT_TOKEN' : ''
  return {
    kind: 'archive',
    label,
    outcome: 'failed',
    message: `${explained(error)}${where}`,
    mayPass: error instanceof ReasonError && mayPass(error.reason),
  }
}
