import type { ResourceDetail } from '../api/records.ts'

export interface ChosenVersion {
  /** The version that usage and links are about; none where the resource has none. */
  readonly shown: string | undefined
  /** The version to write into the usage block: none while it is not synced. */
  readonly pinned: string | undefined
  readonly isLatest: boolean
  /** Asked for in the URL, but the resource does not have it. */
  readonly unknown: string | undefined
}

/** @param asked by the URL; empty for the latest */
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
