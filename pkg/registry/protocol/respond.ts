import type { Context } from 'hono'
import type { ArchiveLocation } from '../../api/v1alpha1/v1alpha1.ts'
import type { Archive } from '../../archives/storage/storage.ts'
import type { ServingEnv } from '../../base/serving/serving.ts'
import type { VersionRow } from '../catalog/catalog.ts'
import type { DownloadEvent } from '../downloads/downloads.ts'
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
