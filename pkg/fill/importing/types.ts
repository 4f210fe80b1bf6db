import type { Sources } from '../sources/sources.ts'
import type { ImportAddress } from './address.ts'
import type { RetryOptions } from './retrying.ts'
import type { StoreContext } from './store-item.ts'

export interface ImportOptions extends Omit<StoreContext, 'manifests'> {
  readonly addresses: readonly ImportAddress[]
  readonly sources: Sources
  /** Folder of the manifests, with a folder for each namespace. */
  readonly manifestsDir: string
  readonly apiGroup: string
  /** Namespace of everything that is imported. Default: the one in its address. */
  readonly namespace?: string | undefined
  /** Name and system of a module that comes from git. */
  readonly module?: { readonly name: string; readonly system: string } | undefined
  /** The part of tags before the version. */
  readonly tagPrefix?: string | undefined
  /** Name of the Secret with the token for registry and git. */
  readonly secretName?: string | undefined
  /** Whether providers without a signature are accepted. */
  readonly unsigned: boolean
  /** Decides whether a version is imported. */
  readonly chosen: (version: string) => boolean
  /** Reports what would be done; fetches and writes nothing. */
  readonly dryRun: boolean
  readonly parallel: number
  readonly onEvent: (event: ImportEvent) => void
  readonly retryMs?: RetryOptions['retryMs']
}

export type ImportEvent =
  /** The number of archives at an address, including those that are stored already. */
  | { readonly kind: 'listed'; readonly address: ImportAddress; readonly count: number }
  | { readonly kind: 'skipped'; readonly what: string; readonly message: string }
  /** An upstream limits requests; it is asked again after this time. */
  | { readonly kind: 'waiting'; readonly ms: number; readonly message: string }
  | ArchiveEvent

export interface ArchiveEvent {
  readonly kind: 'archive'
  readonly label: string
  readonly outcome: 'stored' | 'present' | 'planned' | 'failed'
  readonly sizeBytes?: number
  readonly message?: string
  /** Whether the same command may succeed later, without a change by a person. */
  readonly mayPass?: boolean
}

export type ImportResult = Readonly<Record<ArchiveEvent['outcome'], number>>
