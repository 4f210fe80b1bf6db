import { parseAllDocuments } from 'yaml'
import { ifFound, messageOf } from '../../base/errors/errors.ts'
import { eachLimited } from '../../base/pacing/pacing.ts'
import { type Api, pathOf } from '../kube/kube.ts'
import { type BackedUp, isCustom, order, titleOf } from './record.ts'

export interface RestoreOptions {
  readonly api: Api
  /** A backup that `save` wrote. */
  readonly text: string
  /** Group of the cluster's kinds. */
  readonly apiGroup: string
  /** Group in the backup that `apiGroup` replaces. */
  readonly mapGroup?: string | undefined
  /** Sends everything to the API server as a dry run. */
  readonly dryRun: boolean
}

export interface Restored {
  readonly objects: number
  readonly statuses: number
  /** Objects that a dry run cannot check, because their namespace does not exist yet. */
  readonly unchecked: number
  readonly failures: readonly string[]
}

const atOnce = 16
const applyPatch = 'application/apply-patch+yaml'

/**
 * Restores the objects of a backup into a cluster: parents before their Versions, then their statuses. It drops owner
 * references, because they name objects of another cluster, and the garbage collector would delete the restored objects.
 *
 * @throws Error if the backup is unusable; single objects that fail are returned
 */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { api, apiGroup, dryRun } = options
  const objects = readBackup(options)
  await untilDefined(api, apiGroup)
  const failures: string[] = []
  const missing = new Set<string>()
  const made = { objects: 0, statuses: 0, unchecked: 0 }
  const query = `?fieldManager=depot-restore&force=true${dryRun ? '&dryRun=All' : ''}`
  const placeOf = ({ kind, metadata: { name, namespace } }: BackedUp) =>
    pathOf({ kind, namespace, name }, apiGroup)

  async function put(object: BackedUp): Promise<void> {
    const { status: _, ...rest } = object
    if (missing.has(object.metadata.namespace ?? '')) made.unchecked += 1
    else await api.request('PATCH', `${placeOf(object)}${query}`, rest, applyPatch)
    made.objects += 1
  }
  async function putStatus(object: BackedUp): Promise<void> {
    const { apiVersion, kind, metadata, status } = object
    const { name, namespace } = metadata
    const given = { apiVersion, kind, metadata: { name, namespace }, status }
    await api.request('PATCH', `${placeOf(object)}/status${query}`, given, applyPatch)
    made.statuses += 1
  }

  if (dryRun) {
    for (const object of objects.filter(({ kind }) => kind === 'Namespace')) {
      if (!(await exists(api, placeOf(object)))) missing.add(object.metadata.name)
    }
  }
  for (const kind of order) {
    await each(
      objects.filter((object) => object.kind === kind),
      put,
      failures,
    )
  }
  const withStatus = objects.filter(({ kind, status }) => isCustom(kind) && status !== undefined)
  // No object exists yet that could have a status.
  if (!dryRun) await each(withStatus, putStatus, failures)
  return { ...made, failures }
}

/** @throws Error that names the fault of the backup */
function readBackup({ text, apiGroup, mapGroup }: RestoreOptions): BackedUp[] {
  const end = /^# end of backup, (?<count>\d+) objects$/m.exec(text)?.groups?.['count']
  if (end === undefined) {
    throw new Error(
      'the backup has no end: it was cut short, or depot backup did not write it: name another one',
    )
  }
  const objects = parseAllDocuments(text, { version: '1.1' }).flatMap(
    (document, index): BackedUp[] => {
      const [error] = document.errors
      if (error !== undefined)
        throw new Error(`object ${index + 1} is not valid YAML: ${error.message}`)
      const object: unknown = document.toJS()
      if (object === null) return []
      if (!isBackedUp(object)) {
        throw new Error(`object ${index + 1} is not one of ${order.join(', ')} with a name`)
      }
      return [object]
    },
  )
  if (objects.length !== Number(end)) {
    throw new Error(`the backup has ${objects.length} objects, and says that there are ${end}`)
  }
  return objects.map((object) => mapped(object, apiGroup, mapGroup))
}

function isBackedUp(value: unknown): value is BackedUp {
  if (!(value instanceof Object)) return false
  const { apiVersion, kind, metadata } = value as Partial<BackedUp>
  return (
    typeof apiVersion === 'string' &&
    order.some((known) => known === kind) &&
    typeof metadata?.name === 'string' &&
    (kind === 'Namespace' || typeof metadata.namespace === 'string')
  )
}

/** Moves an object into the cluster's group, without owners. */
function mapped(object: BackedUp, apiGroup: string, mapGroup?: string): BackedUp {
  const { ownerReferences: _, ...metadata } = object.metadata
  const from = isCustom(object.kind) ? object.apiVersion.split('/')[0] : apiGroup
  if (from !== apiGroup && from !== mapGroup) {
    throw new Error(
      `the backup is of the group ${from}, and the cluster's is ${apiGroup}: name both with --map-group ${from}=${apiGroup}`,
    )
  }
  // Both groups may share namespaces and READMEs, if both are in one cluster.
  const isShared = !isCustom(object.kind)
  const rename = (keys?: Readonly<Record<string, string>>) => {
    if (keys === undefined || mapGroup === undefined) return keys
    const isOld = (key: string) => key.startsWith(`${mapGroup}/`)
    const named = Object.entries(keys).map(([key, value]) => [
      isOld(key) ? `${apiGroup}${key.slice(mapGroup.length)}` : key,
      value,
    ])
    return { ...(isShared && keys), ...Object.fromEntries(named) }
  }
  const labels = rename(metadata.labels)
  const annotations = rename(metadata.annotations)
  return {
    ...object,
    apiVersion: isCustom(object.kind) ? `${apiGroup}/v1alpha1` : object.apiVersion,
    metadata: { ...metadata, ...(labels && { labels }), ...(annotations && { annotations }) },
  }
}

async function untilDefined(api: Api, apiGroup: string): Promise<void> {
  if (await exists(api, `/apis/${apiGroup}/v1alpha1`)) return
  throw new Error(
    `the cluster has no ${apiGroup}/v1alpha1: install the chart first with controller.enabled=false, or apply its definitions with kubectl apply --server-side -k config/crd`,
  )
}

async function exists(api: Api, path: string): Promise<boolean> {
  return (await ifFound(api.request('GET', path))) !== undefined
}

/** Runs a function for many objects, several at a time. A failure does not stop the others. */
function each(
  objects: readonly BackedUp[],
  act: (object: BackedUp) => Promise<void>,
  failures: string[],
): Promise<void> {
  return eachLimited(objects, atOnce, async (object) => {
    await act(object).catch((thrown: unknown) => {
      failures.push(`${titleOf(object)}: ${messageOf(thrown)}`)
    })
  })
}
