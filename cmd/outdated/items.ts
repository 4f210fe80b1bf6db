import type { Use } from '../../pkg/archives/docs/docs.ts'

/** All findings, with the level and text of their rules in SARIF. */
export const checks = {
  behind: { level: 'note', text: 'A newer version meets the constraint.' },
  excluded: { level: 'note', text: 'The constraint excludes the latest version.' },
  deprecated: { level: 'warning', text: 'The version is deprecated.' },
  yanked: { level: 'warning', text: 'The version is yanked, so new users do not get it.' },
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

/** A module or provider that a configuration uses. */
export interface Registered extends Use {
  readonly host: string
  /** Path after the host, without the folder of a submodule. */
  readonly path: string
}

/** A use and its findings. */
export interface Item extends Use {
  /** The version that is installed, or that `init` would install. */
  readonly version?: string | undefined
  /** The newest version that meets the constraint. */
  readonly newest?: string | undefined
  readonly latest?: string | undefined
  /** Archives without a scan, or why findings are unknown; undefined if all are known. */
  readonly unscanned?: string | undefined
  readonly findings: readonly OutdatedFinding[]
  /** Reason if it could not be checked. */
  readonly undecided?: string | undefined
  /** Reason if it was left out, such as a public registry. */
  readonly notJudged?: string | undefined
  readonly note?: string | undefined
}
