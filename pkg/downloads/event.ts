/** One download of an archive. */
export interface DownloadEvent {
  readonly kind: 'Module' | 'Provider'
  readonly namespace: string
  readonly name: string
  /** Without a leading `v`. */
  readonly version: string
  /** Platform of a provider's archive; absent for modules. */
  readonly os?: string | undefined
  readonly arch?: string | undefined
}

/** How often one archive was downloaded, by everybody and ever. */
export interface DownloadCount extends DownloadEvent {
  readonly count: number
  /** Time of the last one, in milliseconds since 1970. */
  readonly lastAt: number
}

/** Downloads of one resource, or of one version of it, within one hour. */
export interface HourlyCount {
  /** Start of the hour, in milliseconds since 1970. */
  readonly startsAt: number
  /** Absent: all versions together. */
  readonly version?: string
  readonly count: number
}

/** A resource, whatever its versions. */
export type DownloadedResource = Pick<DownloadEvent, 'kind' | 'namespace' | 'name'>
