import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StorageConfig } from '../apis/v1alpha1/v1alpha1.ts'
import { messageOf } from '../errors/errors.ts'
import type { Sources } from '../sources/sources.ts'
import type { ArchiveStore } from '../storage/storage.ts'
import type { ImportAddress } from './address.ts'
import { type ImportItem, labelOf } from './item.ts'
import { itemsOf } from './items.ts'
import { Manifests } from './manifests.ts'
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
  /** Which versions are wanted. */
  readonly chosen: (version: string) => boolean
  /** Says what would be done, and fetches and writes nothing. */
  readonly dryRun: boolean
  readonly parallel: number
  /** A folder for archives on their way. */
  readonly workDir: string
  readonly signal: AbortSignal
  readonly onEvent: (event: ImportEvent) => void
}

/** What happens, for those who watch. */
export type ImportEvent =
  /** How many archives an address has, those that are stored already included. */
  | { readonly kind: 'listed'; readonly address: ImportAddress; readonly count: number }
  | { readonly kind: 'skipped'; readonly what: string; readonly message: string }
  | {
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

/** Imports everything that is not there yet. What fails is reported and counted, and keeps nothing else from being imported. */
export async function importAll(options: ImportOptions): Promise<ImportResult> {
  const { addresses, manifestsDir, workDir, signal, onEvent, parallel } = options
  const counts = { stored: 0, present: 0, planned: 0, failed: 0 }
  await mkdir(workDir, { recursive: true, mode: 0o700 })
  const own = await mkdtemp(join(workDir, 'import-'))
  const manifests = new Manifests({ ...options, directory: manifestsDir })
  const context = { ...options, manifests, workDir: own }
  try {
    for (const address of addresses) {
      signal.throwIfAborted()
      const items = await itemsOf(address, options).catch((error: unknown) => {
        signal.throwIfAborted()
        counts.failed += 1
        onEvent({
          kind: 'archive',
          label: nameOf(address),
          outcome: 'failed',
          message: messageOf(error),
        })
        return []
      })
      if (items.length > 0) onEvent({ kind: 'listed', address, count: items.length })
      const waiting = items.values()
      const work = async () => {
        for (const item of waiting) {
          const event = await importItem(item, context, options.dryRun)
          counts[event.outcome] += 1
          onEvent(event)
        }
      }
      await Promise.all(Array.from({ length: parallel }, work))
    }
  } finally {
    await rm(own, { recursive: true, force: true })
  }
  return counts
}

async function importItem(item: ImportItem, context: StoreContext, dryRun: boolean) {
  const label = labelOf(item)
  try {
    if (await isStored(item, context))
      return { kind: 'archive', label, outcome: 'present' } as const
    if (dryRun) return { kind: 'archive', label, outcome: 'planned' } as const
    const { sizeBytes } = await storeItem(item, context)
    return { kind: 'archive', label, outcome: 'stored', sizeBytes } as const
  } catch (error) {
    context.signal.throwIfAborted()
    return { kind: 'archive', label, outcome: 'failed', message: messageOf(error) } as const
  }
}

const nameOf = (address: ImportAddress): string => {
  if (address.from === 'folder') return address.path
  return address.from === 'git' ? address.url : [address.host, ...address.path].join('/')
}
