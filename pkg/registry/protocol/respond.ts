import type { Context } from 'hono'
import type { ArchiveLocation } from '../../api/v1alpha1/v1alpha1.ts'
import type { Archive } from '../../archives/storage/storage.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import type { ServingEnv } from '../../base/serving/serving.ts'
import type { VersionRow } from '../catalog/catalog.ts'
import type { DownloadEvent } from '../downloads/downloads.ts'
import type { Asked } from './endpoint.ts'
import type { RegistryOptions } from './options.ts'

const jsonHeaders = { 'Content-Type': 'application/json' }
const noSharedCache = { 'Cache-Control': 'private, no-cache', Vary: 'Authorization' }
const privateJsonHeaders = { ...jsonHeaders, ...noSharedCache }

/** Whether answers differ by caller, which caches have to know. */
const isPrivate = ({ auth }: RegistryOptions): boolean =>
  auth !== undefined && auth.mode !== 'anonymous'

/** Headers of JSON that depends on the caller. */
export const jsonHeadersOf = (options: RegistryOptions): Readonly<Record<string, string>> =>
  isPrivate(options) ? privateJsonHeaders : jsonHeaders

/** Headers for caches, of an answer with URLs: they depend on the Host or X-Forwarded headers, unless the base URL is set. */
export function linkHeadersOf(options: RegistryOptions): Readonly<Record<string, string>> {
  if (isPrivate(options)) return noSharedCache
  return options.baseUrl === undefined ? { 'Cache-Control': 'private, no-cache' } : {}
}

/** Names an archive for the count of downloads, and the caller if it is known. */
export function downloadOf(row: VersionRow, c: Context<ServingEnv>): DownloadEvent {
  const { kind, namespace, version, os, arch } = row
  const consumer = c.env?.facts?.consumer?.()
  return { kind, namespace, name: row.parent?.name ?? '', version, os, arch, consumer }
}

/** Names an archive to storage; the row must be downloadable. */
export function servedArchive(row: VersionRow): Archive {
  return {
    location: row.location as ArchiveLocation,
    sha256: row.sha256 as string,
    label: {
      namespace: row.namespace,
      kind: row.kind,
      name: row.parent?.name ?? '',
      version: row.version,
    },
  }
}

/** Names, IPv4 and bracketed IPv6 addresses, with or without a port. */
const hostPattern = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

/**
 * The URL under which the client reaches this server, without a trailing slash. The first of these that there is: the URL
 * that the operator configured, the one that a trusted proxy forwards, the Host header.
 *
 * @throws RegistryError BadRequest if the host is not valid, and for a plain request if a proxy has to be trusted
 */
export function baseUrlOf(
  asked: Asked,
  { baseUrl, trustProxy }: Pick<RegistryOptions, 'baseUrl' | 'trustProxy'>,
): string {
  if (baseUrl !== undefined) return baseUrl
  if (!('req' in asked)) {
    if (trustProxy === true && asked.isForwarded) throw badHost()
    return asked.origin
  }
  const { url } = asked.req
  const forwarded = (name: string) =>
    trustProxy === true ? asked.req.header(name)?.split(',')[0]?.trim() || undefined : undefined
  const protocol = forwarded('x-forwarded-proto') ?? url.slice(0, url.indexOf(':'))
  const host = forwarded('x-forwarded-host') ?? asked.req.header('host') ?? new URL(url).host
  if (!/^https?$/i.test(protocol) || !hostPattern.test(host)) throw badHost()
  // Such as x:99999 and 1.2.3.4.5.
  if (!URL.canParse(`http://${host}`)) throw badHost()
  return `${protocol.toLowerCase()}://${host}`
}

const badHost = () =>
  new RegistryError(
    'BadRequest',
    'the Host or X-Forwarded header of the request is not a host name',
  )
