import type { BrowseResource } from '../../api/browse/browse.ts'
import { normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import { notFound, type RegistryError } from '../../base/errors/errors.ts'
import {
  type Catalog,
  isNews,
  type Listed,
  type Parent,
  type Unserved,
  type VersionRow,
  type View,
} from '../catalog/catalog.ts'
import { kindOf, nameOfKind } from './parameters.ts'

export interface ResourceAddress {
  readonly namespace: string
  readonly kind: 'module' | 'provider'
  readonly name: string
}

/** @throws RegistryError NotFound if it does not exist or the caller may not see it */
export function findResource(catalog: Catalog, view: View, address: ResourceAddress): Listed {
  const { namespace, kind, name } = address
  const entry = catalog.model.find(view, kindOf[kind], namespace, name)
  if (entry === undefined) throw noResource(address)
  return entry
}

function noResource({ namespace, kind, name }: ResourceAddress): RegistryError {
  return notFound(
    `${kind} ${namespace}/${name} not found, or you may not see it: check its namespace and name, and your access`,
  )
}

/** Counts changes of a resource in a view. NaN, which equals nothing, if the view does not show it. */
export function revisionOf(catalog: Catalog, view: View, address: ResourceAddress): number {
  const { namespace, kind, name } = address
  return catalog.model.find(view, kindOf[kind], namespace, name)?.revision ?? Number.NaN
}

/** Fields of an item that is not served. */
export function whyNot(unserved: Unserved): Why
export function whyNot(unserved: Unserved | undefined): Why | undefined
export function whyNot(unserved: Unserved | undefined): Why | undefined {
  if (unserved === undefined) return undefined
  const { reason, message, by: servedInstead } = unserved
  return { reason, message, servedInstead }
}

type Why = Pick<Unserved, 'reason' | 'message'> & { readonly servedInstead: string | undefined }

/** For the document of the API. */
export const exampleResource = {
  kind: 'module',
  namespace: 'platform',
  name: 'network',
  address: 'network/aws',
  latestVersion: '2.0.0',
  synced: true,
  provider: 'aws',
  public: true,
  totalDownloads: 7,
} satisfies BrowseResource

export function resourceRecord(entry: Listed, catalog: Catalog): BrowseResource {
  const { summary } = entry
  const { resource } = summary
  return {
    kind: nameOfKind[summary.kind],
    namespace: summary.namespace,
    name: summary.name,
    address: summary.address,
    latestVersion: summary.latestVersion,
    synced: summary.synced,
    provider: resource.system,
    repoUrl: resource.repoUrl,
    scanCounts: summary.scanCounts,
    public: entry.isPublic,
    hasUnsyncedVersions: summary.hasUnsynced || undefined,
    totalDownloads: summary.downloads,
    lastDownloadedAt: rfc3339(summary.lastDownloadedAt),
    ...(whyNot(catalog.conflictOf(entry.parent)) ?? heldRemoval(entry) ?? heldVersions(entry)),
  }
}

/** Uses a fixed message, because operators are the readers of the condition's own message. */
function heldRemoval({ summary: { namespace, name, resource } }: Listed) {
  if (!resource.removalHeld) return undefined
  const message = `versions that are not wanted any more stay served until a person decides: depot why ${namespace}/${name} says how`
  return { reason: 'RemovalHeld' as const, message }
}

function heldVersions({ summary: { resource } }: Listed) {
  const count = resource.heldBack.filter(isNews).length
  if (count === 0) return undefined
  const who =
    count === 1 ? 'a version of its upstream waits' : `${count} versions of its upstream wait`
  const message = `${who}: the list of held versions says why`
  return { reason: 'HeldBack' as const, message }
}

/** @param time in milliseconds since 1970 */
export function rfc3339(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}

/**
 * Finds the version of a parent that a caller names, with or without a leading `v`; undefined if there is none. In a query,
 * the `+` of build metadata means a space.
 */
export function versionNamed(parent: Parent, wanted: string): string | undefined {
  const written = wanted.trim().replaceAll(' ', '+')
  const spelled = [normalizeVersion(written), written.replace(/^v/i, '')]
  return spelled.find((version) => parent.rowsOf(version).length > 0)
}

/** Finds the version. @throws RegistryError NotFound if there is none */
export function requireVersion(parent: Parent, wanted: string): string {
  const version = versionNamed(parent, wanted)
  if (version !== undefined) return version
  throw notFound(
    `${parent.kind.toLowerCase()} ${parent.namespace}/${parent.name} has no version ${wanted.trim()}: see its list of versions`,
  )
}

/** The key of a platform in maps. */
export function platformOf({ os = '', arch = '' }: VersionRow): string {
  return `${os}/${arch}`
}
