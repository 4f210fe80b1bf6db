import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'

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
interface ImportedArchive {
  readonly file: string
  /** Directory of the module in it. */
  readonly path?: string | undefined
  /** Plugin protocols of a provider, where they are known. */
  readonly protocols?: readonly string[] | undefined
  /** SHA-256 that its source says it has, in hexadecimal. */
  readonly sha256?: string | undefined
  remove(): Promise<void>
}

/** One archive that is to be imported. */
export interface ImportItem {
  readonly parent: ImportParent
  /** Without `v`. */
  readonly version: string
  /** Providers only. */
  readonly platform?: { readonly os: string; readonly arch: string }
  fetch(signal: AbortSignal, maxBytes: number): Promise<ImportedArchive>
}

/** What an address has. */
export interface FoundItems {
  readonly items: readonly ImportItem[]
  /** What is there and cannot be imported. */
  readonly skipped: readonly string[]
  /** Why; a message after each. */
  readonly skippedAre: string
}

/** An item as a person reads it. */
export function labelOf({ parent, version, platform }: ImportItem): string {
  const { namespace, name, system } = parent
  const address = [namespace, name, system].filter((each) => each !== undefined).join('/')
  return [address, version, platform && `${platform.os}_${platform.arch}`]
    .filter((each) => each !== undefined)
    .join(' ')
}
