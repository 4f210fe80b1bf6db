import type { ResourceDetail } from '../api/records.ts'

export interface ChosenVersion {
  /** The version for Usage and links; undefined if the resource has no version. */
  readonly shown: string | undefined
  /** The version in the usage block; undefined while it is not synced. */
  readonly pinned: string | undefined
  readonly isLatest: boolean
  /** The version of the URL if the resource does not have it. */
  readonly unknown: string | undefined
}

/** @param asked version of the URL; empty for the latest */
export function chosenVersion(
  { versions, latestVersion }: Pick<ResourceDetail, 'versions' | 'latestVersion'>,
  asked: string,
): ChosenVersion {
  const wanted = asked.replace(/^v(?=\d)/, '')
  const found = versions.find(({ version }) => version === wanted)
  const shown = found?.version ?? latestVersion
  const isSynced = versions.some(({ version, synced }) => version === shown && synced)
  return {
    shown,
    pinned: isSynced ? shown : undefined,
    isLatest: shown === latestVersion,
    unknown: asked !== '' && found === undefined ? asked : undefined,
  }
}
