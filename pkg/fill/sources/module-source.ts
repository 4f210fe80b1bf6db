import type { SpoolFile } from '../../archives/spool/spool.ts'

/** What a module's config says about where it comes from. */
export interface ModuleOrigin {
  readonly name?: string | undefined
  /** The target system. */
  readonly provider?: string | undefined
  readonly repoOwner?: string | undefined
  readonly repoUrl?: string | undefined
  readonly githubClientConfig?: GithubAccess | undefined
  readonly source?:
    | {
        readonly type: 'github' | 'git' | 'archive' | 'registry'
        readonly url?: string | undefined
        readonly path?: string | undefined
        readonly tagPrefix?: string | undefined
        readonly secretRef?: { readonly name: string } | undefined
      }
    | undefined
}

interface GithubAccess {
  readonly useAuthenticatedClient?: boolean | undefined
  readonly secretName?: string | undefined
  readonly apiUrl?: string | undefined
}

/** A version as an upstream lists it. */
export interface UpstreamVersion {
  /** Without prefix, as it is spelled upstream otherwise: `v1.2.3` may be. */
  readonly version: string
  /** What to ask the upstream for: a tag, or the version. */
  readonly ref: string
  /** What the ref points to, where the list says so: a commit. */
  readonly commit?: string | undefined
}

export interface Listing {
  readonly versions: readonly UpstreamVersion[]
  /** How many names were no versions. */
  readonly skipped: number
  /** Whether the upstream said that nothing changed since the last time. */
  readonly unchanged: boolean
}

export interface ListOptions {
  readonly signal: AbortSignal
  /** Whether a person waits for it: it goes on when little of a rate limit is left. */
  readonly urgent?: boolean | undefined
  /** How old a list may be that is given without asking, in milliseconds. Default: 0. */
  readonly maxAgeMs?: number | undefined
}

/** What a version is upstream at this moment. */
export interface Resolved {
  readonly version: string
  readonly ref: string
  /** For the status: `v1.2.3@sha1:...`. Changes with the content, as far as can be known without a download. */
  readonly revision: string
}

export interface FetchOptions {
  readonly signal: AbortSignal
  readonly urgent?: boolean | undefined
  /** Called once where there is no room for the file at this moment. */
  readonly onWaiting?: (() => void) | undefined
  /** What the archive may have, packed. */
  readonly maxBytes: number
}

/** An archive as it came, in the spool. The caller removes it. */
export interface FetchedArchive {
  readonly file: SpoolFile
  readonly sizeBytes: number
  /** Hexadecimal. */
  readonly sha256: string
  readonly revision: string
  /** The folder in it that is meant, below the one that wraps everything. */
  readonly path?: string | undefined
}

export interface ModuleSource {
  /** Names the place, the same for the same place: part of what a stored archive is known by. Printable, no credentials. */
  readonly identity: string
  /** The label of metrics. */
  readonly type: 'github' | 'git' | 'archive' | 'registry'
  /** @throws SourceError */
  list(options: ListOptions): Promise<Listing>
  /** @param version with or without `v` @throws SourceError NotFound and others */
  resolve(version: string, options: ListOptions): Promise<Resolved>
  /** @throws SourceError */
  fetch(resolved: Resolved, options: FetchOptions): Promise<FetchedArchive>
}
