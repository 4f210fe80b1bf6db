import type { ResourceDetail } from '../api/records.ts'
import { Pick } from '../parts/pick.tsx'
import type { ChosenVersion } from './chosen-version.ts'

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
