import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ApiError, type StoredObject } from '../../../records/store/store.ts'
import { parseConstraints, selectVersions } from '../../constraint/constraint.ts'
import { type Context, keyOf } from '../context.ts'
import { Failure, failureOf, mistake } from '../failure.ts'
import { appliedAnnotation, depotLabel } from '../parent/depot-label.ts'
import type { VersionStatus } from '../version/status.ts'
import type { DepotStatus, Item } from './configs.ts'
import {
  type Asking,
  type ItemListing,
  identityOf,
  isSuspicious,
  joined,
  listItem,
} from './listing.ts'

export interface ItemResult {
  readonly item: Item
  /** Whether the resource is this Depot's. */
  readonly isManaged: boolean
  readonly found?: number | undefined
  readonly matched?: number | undefined
  readonly retained: number
  readonly skipped: number
  readonly failure?: Failure | undefined
}

/** Brings the resource of one config to where it should be. It never throws: what went wrong is in the result. */
export async function syncItem(
  context: Context,
  depot: StoredObject,
  item: Item,
  asking: Asking,
): Promise<ItemResult> {
  const result = { item, isManaged: false, retained: 0, skipped: 0 }
  try {
    return { ...result, ...(await bring(context, depot, item, asking)) }
  } catch (error) {
    asking.signal.throwIfAborted()
    const object = context.objects.get(item.kind, depot.metadata.namespace, item.objectName)
    const isManaged = !item.isTwin && object !== undefined && isManagedBy(context, depot, object)
    return { ...result, isManaged, failure: failureOf(error) ?? apiFailure(error) }
  }
}

function apiFailure(error: unknown): Failure {
  if (!(error instanceof ApiError)) throw error
  const options = { terminal: error.reason === 'Invalid', cause: error }
  return new Failure(options.terminal ? 'InvalidSpec' : 'SyncFailed', error.message, options)
}

async function bring(
  context: Context,
  depot: StoredObject,
  item: Item,
  asking: Asking,
): Promise<Partial<ItemResult>> {
  const { namespace } = depot.metadata
  const { kind, config, name } = item
  if (name === '') throw mistake('InvalidSpec', 'a config without a name: each needs one')
  if (item.isTwin) {
    throw mistake(
      'InvalidSpec',
      `another config of this Depot makes ${kind} ${item.objectName} already: merge both, or rename one`,
    )
  }
  const object = context.objects.get(kind, namespace, item.objectName)
  if (object?.metadata.deletionTimestamp !== undefined) return {}
  if (object !== undefined && !mayManage(context, depot, object)) {
    throw mistake(
      'OwnedByAnother',
      `${kind} ${item.objectName} is not this Depot's: the annotation ${context.apiGroup}/adopt: "${depot.metadata.name}" on it hands it over`,
    )
  }
  if (!asking.isPoll && object !== undefined && isApplied(context, depot, item, object)) {
    const before = reportOf(depot, item)
    return { isManaged: true, found: before?.found, matched: before?.matched }
  }
  const constraints = parseConstraints(textOf(config['versionConstraints']))
  const listing = await listItem(context, namespace, item, asking)
  const known = object === undefined ? [] : knownVersions(context, namespace, item, object)
  if (isSuspicious(listing.versions, known)) {
    throw new Failure(
      'UpstreamSuspicious',
      `upstream lists ${listing.versions.length} versions where ${known.length} are known: the list is not used; delete the ${kind} to accept it`,
      { terminal: true },
    )
  }
  const { versions, vanished } = joined(listing.versions, known)
  const limit = config['versionHistoryLimit']
  const selected = selectVersions(versions, constraints, {
    historyLimit: typeof limit === 'number' ? limit : undefined,
  })
  const applied = await apply(context, depot, item, selected.versions)
  wakeOutdated(context, applied, listing)
  return {
    isManaged: true,
    found: listing.versions.length,
    matched: selected.versions.length,
    retained: selected.versions.filter((version) => vanished.has(version)).length,
    skipped: listing.skipped,
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

function isManagedBy({ apiGroup }: Context, depot: StoredObject, object: StoredObject): boolean {
  return object.metadata.labels[depotLabel(apiGroup)] === depot.metadata.name
}

/** A resource that is there already is taken over only where the status of the Depot or an annotation says so. */
function mayManage(context: Context, depot: StoredObject, object: StoredObject): boolean {
  const { apiGroup } = context
  const { labels, annotations, name, namespace } = object.metadata
  if (isManagedBy(context, depot, object)) return true
  if (annotations[`${apiGroup}/adopt`] === depot.metadata.name) return true
  if (labels[depotLabel(apiGroup)] !== undefined) return false
  const { modules = [], providers = [] } = (depot.status ?? {}) as DepotStatus
  const names = object.kind === 'Module' ? modules : providers
  return names.includes(name) || names.includes(`${namespace}/${name}`)
}

function reportOf(depot: StoredObject, { kind, name }: Item) {
  const { items = [] } = (depot.status ?? {}) as DepotStatus
  return items.find((item) => item.kind === kind && item.name === name)
}

interface RawChild {
  readonly moduleConfig?: unknown
  readonly providerConfig?: unknown
  readonly versions?: readonly { readonly version: string }[]
}

/** What is known stays while it comes from the same place. */
function knownVersions(
  context: Context,
  namespace: string,
  { kind, config }: Item,
  { spec }: StoredObject,
): string[] {
  const { moduleConfig, providerConfig, versions = [] } = spec as RawChild
  const before = identityOf(context, namespace, kind, moduleConfig ?? providerConfig)
  if (before === undefined || before !== identityOf(context, namespace, kind, config)) return []
  return versions.map(({ version }) => version)
}

/** Whether a resource is as this Depot made it last, of the config that it has now. */
function isApplied(
  context: Context,
  depot: StoredObject,
  item: Item,
  object: StoredObject,
): boolean {
  const { moduleConfig, providerConfig, versions = [] } = object.spec as RawChild
  return (
    isManagedBy(context, depot, object) &&
    isDeepStrictEqual(moduleConfig ?? providerConfig, item.config) &&
    object.metadata.annotations[appliedAnnotation(context.apiGroup)] ===
      digestOf(versions.map(({ version }) => version))
  )
}

function digestOf(versions: readonly string[]): string {
  return createHash('sha256').update(versions.join('\n')).digest('hex').slice(0, 16)
}

async function apply(
  context: Context,
  depot: StoredObject,
  { kind, config, objectName }: Item,
  versions: readonly string[],
): Promise<StoredObject> {
  const { apiGroup, objects } = context
  const { namespace, name } = depot.metadata
  const object = objects.get(kind, namespace, objectName)
  const spec = {
    [kind === 'Module' ? 'moduleConfig' : 'providerConfig']: config,
    versions: versions.map((version) => ({ version })),
  }
  const annotation = appliedAnnotation(apiGroup)
  const digest = digestOf(versions)
  const isSame =
    object?.metadata.labels[depotLabel(apiGroup)] === name &&
    object.metadata.annotations[annotation] === digest &&
    Object.entries(spec).every(([field, value]) =>
      isDeepStrictEqual((object.spec as Record<string, unknown>)[field], value),
    )
  if (object !== undefined && isSame) return object
  return objects.apply({
    kind,
    metadata: {
      name: objectName,
      namespace,
      labels: { [depotLabel(apiGroup)]: name },
      annotations: { [annotation]: digest },
    },
    spec,
  })
}

/** Versions whose tag is another commit now are looked at; no download is needed to see that. */
function wakeOutdated(context: Context, object: StoredObject, listing: ItemListing): void {
  const { namespace, name, uid } = object.metadata
  if (object.kind === 'Provider') {
    if (!listing.unchanged) context.wake({ kind: 'Provider', namespace, name }, 'poll')
    return
  }
  const commits = new Map(
    listing.versions.map(({ version, commit }) => [version.replace(/^v/i, ''), commit]),
  )
  for (const child of context.objects.list('Version', { namespace, ownerUid: uid })) {
    const { drift, attempted, artifact } = (child.status ?? {}) as VersionStatus
    const seen = drift?.revision ?? attempted?.revision ?? artifact?.revision
    const { version } = child.spec as { version: string }
    const commit = commits.get(version.replace(/^v/i, ''))
    if (seen === undefined || commit === undefined || seen.endsWith(`:${commit}`)) continue
    context.outdated.add(keyOf(child.metadata))
    context.wake({ kind: 'Version', namespace, name: child.metadata.name }, 'poll')
  }
}
