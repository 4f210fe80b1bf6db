import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import type { LimitsByKind } from '../../archives/archive/archive.ts'
import type { ArchiveStore } from '../../archives/storage/storage.ts'
import { messageOf } from '../../base/errors/errors.ts'
import type { Sources } from '../sources/sources.ts'
import { type ImportAddress, nameOf } from './address.ts'
import { type ImportItem, labelOf } from './item.ts'
import { itemsOf } from './items.ts'
import { Manifests } from './manifests.ts'
import { type Patience, patiently } from './patiently.ts'
import { isStored, type StoreContext, storeItem } from './store-item.ts'

export interface ImportOptions {
  readonly addresses: readonly ImportAddress[]
  readonly sources: Sources
  readonly store: ArchiveStore
  readonly storage: StorageConfig
  /** Where manifests are written, in folders by namespace. */
  readonly manifestsDir: string
  readonly apiGroup: string
  /** Namespace of everything that is imported. Default: the one in its address. */
  readonly namespace?: string | undefined
  /** Name and system of a module that comes from git. */
  readonly module?: { readonly name: string; readonly system: string } | undefined
  /** What tags begin with before the version. */
  readonly tagPrefix?: string | undefined
  /** Name of the Secret with the token for registry and git. */
  readonly secretName?: string | undefined
  /** Whether providers without a signature are taken. */
  readonly unsigned: boolean
  readonly format: 'zip' | 'tar.gz'
  /** How much archives may be. */
  readonly limits: LimitsByKind
  /** Which versions are wanted. */
  readonly chosen: (version: string) => boolean
  /** Says what would be done, and fetches and writes nothing. */
  readonly dryRun: boolean
  readonly parallel: number
  /** A folder for archives on their way. */
  readonly workDir: string
  readonly signal: AbortSignal
  readonly onEvent: (event: ImportEvent) => void
  /** The first pause before what failed is tried again, in milliseconds. Default: 1,000. */
  readonly retryMs?: number
}

/** How much may be stored that is not written down yet: a kill has that much fetched again. */
const maxRecording = 1_000

/** What happens, for those who watch. */
export type ImportEvent =
  /** How many archives an address has, those that are stored already included. */
  | { readonly kind: 'listed'; readonly address: ImportAddress; readonly count: number }
  | { readonly kind: 'skipped'; readonly what: string; readonly message: string }
  /** An upstream has a limit, and is asked again after so many milliseconds. */
  | { readonly kind: 'waiting'; readonly ms: number; readonly message: string }
  | ArchiveEvent

interface ArchiveEvent {
  readonly kind: 'archive'
  readonly label: string
  readonly outcome: 'stored' | 'present' | 'planned' | 'failed'
  readonly sizeBytes?: number
  readonly message?: string
}

export interface ImportResult {
  readonly stored: number
  readonly present: number
  readonly planned: number
  readonly failed: number
}

/**
 * Imports everything that is not there yet. What fails is reported and counted, and keeps nothing else from being imported.
 * The next source is listed while archives of the one before are fetched.
 */
export async function importAll(options: ImportOptions): Promise<ImportResult> {
  const { manifestsDir, workDir, onEvent, parallel, signal, retryMs } = options
  const counts = { stored: 0, present: 0, planned: 0, failed: 0 }
  await mkdir(workDir, { recursive: true, mode: 0o700 })
  const own = await mkdtemp(join(workDir, 'import-'))
  const manifests = new Manifests({ ...options, directory: manifestsDir })
  const patience: Patience = {
    signal,
    onWait: (wait) => onEvent({ kind: 'waiting', ...wait }),
    ...(retryMs !== undefined && { retryMs }),
  }
  const context = { ...options, manifests, workDir: own }
  const ended = (event: ArchiveEvent) => {
    counts[event.outcome] += 1
    onEvent(event)
  }
  const items = allItems(options, patience, ended)
  /** By label: another archive of the same version waits, and finds that one is stored. */
  const running = new Map<string, Promise<void>>()
  const finish = async (item: ImportItem, step: ArchiveEvent | Recording): Promise<void> => {
    if (!('record' in step)) return ended(step)
    return step.record().then(
      () => ended(step.event),
      (error: unknown) => ended(failed(item, error)),
    )
  }
  const work = async () => {
    for (let next = await items.next(); next.done !== true; next = await items.next()) {
      const item = next.value
      const label = labelOf(item)
      while (running.has(label)) await running.get(label)
      const step = importItem(item, context, patience)
      const whole = step.then(
        (it) => finish(item, it),
        () => undefined,
      )
      running.set(label, whole)
      void whole.finally(() => running.delete(label))
      await step
      if (running.size >= maxRecording) await Promise.race(running.values())
    }
  }
  const hurry = () => manifests.hurry()
  signal.addEventListener('abort', hurry)
  try {
    const workers = await Promise.allSettled(Array.from({ length: parallel }, work))
    hurry()
    await Promise.all(running.values())
    // Every worker has ended, and with it what it wrote to.
    for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  } finally {
    signal.removeEventListener('abort', hurry)
    await rm(own, { recursive: true, force: true })
  }
  return counts
}

async function* allItems(
  options: ImportOptions,
  patience: Patience,
  ended: (event: ArchiveEvent) => void,
): AsyncGenerator<ImportItem, void> {
  for (const address of options.addresses) {
    options.signal.throwIfAborted()
    let items: readonly ImportItem[] = []
    try {
      items = await patiently(() => itemsOf(address, options), patience)
    } catch (error) {
      options.signal.throwIfAborted()
      // What cannot be listed counts as one that failed.
      options.onEvent({ kind: 'listed', address, count: 1 })
      const message = messageOf(error)
      ended({ kind: 'archive', label: nameOf(address), outcome: 'failed', message })
      continue
    }
    options.onEvent({ kind: 'listed', address, count: items.length })
    yield* items
  }
}

/** What is stored already, and how it is written down. */
interface Recording {
  readonly event: ArchiveEvent
  readonly record: () => Promise<void>
}

async function importItem(
  item: ImportItem,
  context: StoreContext & { readonly dryRun: boolean },
  patience: Patience,
): Promise<ArchiveEvent | Recording> {
  const { manifests, dryRun, signal } = context
  const label = labelOf(item)
  try {
    if (await isStored(item, context)) {
      const event = { kind: 'archive', label, outcome: 'present' } as const
      return dryRun ? event : { event, record: () => manifests.complete(item) }
    }
    if (dryRun) return { kind: 'archive', label, outcome: 'planned' }
    const { upload, protocols } = await patiently(() => storeItem(item, context), patience)
    const { sizeBytes } = upload
    return {
      event: { kind: 'archive', label, outcome: 'stored', sizeBytes },
      record: () => manifests.write(item, upload, protocols),
    }
  } catch (error) {
    signal.throwIfAborted()
    return failed(item, error)
  }
}

const failed = (item: ImportItem, error: unknown): ArchiveEvent => ({
  kind: 'archive',
  label: labelOf(item),
  outcome: 'failed',
  message: messageOf(error),
})
