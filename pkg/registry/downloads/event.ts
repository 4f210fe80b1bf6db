import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { jsonOf } from '../../base/errors/errors.ts'

/** One download of an archive. */
export interface DownloadEvent {
  readonly kind: ParentKind
  readonly namespace: string
  readonly name: string
  /** Without a leading `v`. */
  readonly version: string
  /** Platform of a provider's archive; absent for modules. */
  readonly os?: string | undefined
  readonly arch?: string | undefined
  /** Name of the caller, such as a service account or a team; absent if nobody knows, or nobody may. */
  readonly consumer?: string | undefined
}

/** The archive of an event in JSON arrays. Modules have no platform. */
type ArchiveFields = readonly [
  kind: DownloadEvent['kind'],
  namespace: string,
  name: string,
  version: string,
  os?: string,
  arch?: string,
]

export function fieldsOf(event: DownloadEvent): ArchiveFields {
  const { kind, namespace, name, version, os, arch } = event
  if (os === undefined && arch === undefined) return [kind, namespace, name, version]
  return [kind, namespace, name, version, os ?? '', arch ?? '']
}

/** The event with these fields; undefined if they are invalid. */
export function eventOf(fields: readonly unknown[]): DownloadEvent | undefined {
  const [kind, ...texts] = fields
  if (kind !== 'Module' && kind !== 'Provider') return undefined
  if (!texts.every((text) => typeof text === 'string')) return undefined
  const [namespace, name, version, os, arch] = texts
  if (namespace === undefined || name === undefined || version === undefined) return undefined
  if (texts.length > 5 || (os === undefined) !== (arch === undefined)) return undefined
  return { kind, namespace, name, version, ...(os !== undefined && { os, arch }) }
}

/** The array in a JSON text; undefined if it is not an array. */
export function listIn(text: string): readonly unknown[] | undefined {
  const value = jsonOf(text)
  return Array.isArray(value) ? value : undefined
}

/** Number of all downloads of one archive. */
export interface CountedDownload extends Omit<DownloadEvent, 'consumer'> {
  readonly count: number
  /** Time of the last one, in milliseconds since 1970. */
  readonly lastAt: number
}

/** Downloads of one resource, or of one version of it, in one hour. */
export interface HourlyCount {
  /** Start of the hour, in milliseconds since 1970. */
  readonly startsAt: number
  /** Absent: all versions together. */
  readonly version?: string
  readonly count: number
}

/** Use of a version by a consumer in the last 90 days. */
export interface ConsumerUse {
  readonly consumer: string
  readonly version: string
  /** The last day, in days since 1970. */
  readonly day: number
  /** On how many days. */
  readonly days: number
}

/** A resource without its version. */
export type DownloadedResource = Pick<DownloadEvent, 'kind' | 'namespace' | 'name'>
