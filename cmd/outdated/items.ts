import type { Use } from '../../pkg/archives/docs/docs.ts'

/** Every finding, with the level and text of its rule in SARIF. */
export const checks = {
  behind: { level: 'note', text: 'A newer version meets the constraint.' },
  excluded: { level: 'note', text: 'The constraint excludes the latest version.' },
  deprecated: { level: 'warning', text: 'The version is deprecated.' },
  yanked: { level: 'warning', text: 'The version is not for new users.' },
  quarantined: { level: 'error', text: 'The registry no longer serves the version.' },
  vulnerable: { level: 'error', text: 'A scan found something CRITICAL or HIGH.' },
  gone: { level: 'error', text: 'The registry does not have it.' },
} as const
export type OutdatedCheck = keyof typeof checks

export interface OutdatedFinding {
  readonly check: OutdatedCheck
  readonly message: string
  readonly replacedBy?: string | undefined
}

/** A use of something in a registry. */
export interface Registered extends Use {
  readonly host: string
  /** Below the host, without a folder of a module. */
  readonly path: string
}

/** A use, and what is to say about it. */
export interface Item extends Use {
  /** The version that is installed, or that `init` would install. */
  readonly version?: string | undefined
  /** The newest version that meets the constraint. */
  readonly newest?: string | undefined
  readonly latest?: string | undefined
  /** Archives that nobody scanned, or why findings are unknown; undefined if all are known. */
  readonly unscanned?: string | undefined
  readonly findings: readonly OutdatedFinding[]
  /** Why it could not be judged. */
  readonly undecided?: string | undefined
  /** Why it was not meant to be judged. */
  readonly notJudged?: string | undefined
  readonly note?: string | undefined
}
