import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import type { ArchiveLimits } from '../../archives/archive/archive.ts'
import type { SpoolFile } from '../../archives/spool/spool.ts'
import type { Platform } from '../sources/sources.ts'

/** A Module or Provider that archives belong to. */
export interface ImportParent {
  readonly kind: ParentKind
  readonly namespace: string
  /** Name in its address: of the module, or the type of the provider. */
  readonly name: string
  /** Modules only. */
  readonly system?: string
}

/** An archive on the local disk. */
export interface ImportedArchive {
  readonly file: Pick<SpoolFile, 'path' | 'remove'>
  /** Folder of the module in the archive. */
  readonly path?: string | undefined
  /** Plugin protocols of a provider, if they are known. */
  readonly protocols?: readonly string[] | undefined
  /** SHA-256 that the source names, in hexadecimal. */
  readonly sha256?: string | undefined
}

/** One archive to import. */
export interface ImportItem {
  readonly parent: ImportParent
  /** Without `v`. */
  readonly version: string
  /** Providers only. */
  readonly platform?: Platform
  fetch(signal: AbortSignal, limits: ArchiveLimits): Promise<ImportedArchive>
}

export interface FoundItems {
  readonly items: readonly ImportItem[]
  /** Names that cannot be imported. */
  readonly skipped: readonly string[]
  /** Explains why, after each skipped name. */
  readonly skippedAre: string
  /** Modules that cannot be imported as they are, with the reason. */
  readonly unusable?: readonly { readonly label: string; readonly message: string }[]
}

/** An item as a person reads it. */
export function labelOf({ parent, version, platform }: ImportItem): string {
  const { namespace, name, system } = parent
  const address = [namespace, name, system].filter((each) => each !== undefined).join('/')
  return [address, version, platform && `${platform.os}_${platform.arch}`]
    .filter((each) => each !== undefined)
    .join(' ')
}
