import type { ResourceDetail } from '../api/records.ts'

export interface ChosenVersion {
  /** The version that the page shows; undefined if the resource has no version. */
  readonly shown: string | undefined
  readonly synced: boolean
  readonly isLatest: boolean
  /** The version of the URL if the resource does not have it. */
  readonly unknown: string | undefined
}

/** @param asked version of the URL; empty for the latest */
export function chosenVersion(
  { versions, latestVersion, selectedVersion: shown }: VersionsOf,
  asked: string,
): ChosenVersion {
  // In a query, the + of build metadata means a space.
  const wanted = asked
    .trim()
    .replaceAll(' ', '+')
    .replace(/^v(?=\d)/, '')
  const isKnown = asked === '' || versions.some(({ version }) => version === wanted)
  return {
    shown,
    synced: versions.some(({ version, synced }) => version === shown && synced),
    isLatest: shown === latestVersion,
    unknown: isKnown ? undefined : asked,
  }
}

type VersionsOf = Pick<ResourceDetail, 'versions' | 'latestVersion' | 'selectedVersion'>
