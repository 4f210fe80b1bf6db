import type { ResourceDetail } from '../api/records.ts'
import { Pick } from '../parts/pick.tsx'

/** A version, and whether it is the latest. */
export const numberWords = (
  version: string,
  { latestVersion }: Pick<ResourceDetail, 'latestVersion'>,
): string => (version === latestVersion ? `${version}, latest` : version)

interface Props {
  readonly detail: ResourceDetail
  readonly version: ChosenVersion
  /** Called with an empty text for the latest version. */
  readonly onChoose: (version: string) => void
}

/** Chooses the version that a page shows. */
export const VersionPick = ({ detail, version, onChoose }: Props) => (
  <Pick
    label="Version"
    names
    value={version.isLatest ? '' : (version.shown ?? '')}
    options={[
      ['', detail.latestVersion ? `${detail.latestVersion}, latest` : 'None to take'],
      ...detail.versions
        .filter((it) => it.version !== detail.latestVersion)
        .map(({ version: number, state }) => {
          const words = state ? `${number}, ${state.toLowerCase()}` : number
          return [number, words] as const
        }),
    ]}
    onChoose={onChoose}
  />
)

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
