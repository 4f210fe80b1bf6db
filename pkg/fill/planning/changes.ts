import { isDeepStrictEqual } from 'node:util'
import {
  type Condition,
  conditionOf,
  type Depot,
  isRecord,
  type Module,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import {
  type ObjectKind,
  type Objects,
  refOf,
  type StoredObject,
  type StoredRef,
} from '../../records/store/store.ts'
import {
  heldBackIn,
  identityOfStored,
  type PolicyDecision,
  type VersionOutlook,
} from '../sync/sync.ts'
import { type Action, actionOrder } from './actions.ts'

/** A change that a sync would make to an object, or to Versions of a Module or Provider. */
export interface PlannedChange {
  readonly action: Action
  readonly kind: StoredRef['kind']
  readonly namespace: string
  readonly name: string
  /** The versions that this is about, such as `1.2.0` or `1.2.0 linux/amd64`. */
  readonly versions?: readonly string[] | undefined
  readonly message?: string | undefined
}

interface Compared {
  readonly before: ReadonlyMap<string, StoredObject>
  /** The objects after the sync. */
  readonly objects: Objects
  readonly isAsked: (ref: StoredRef) => boolean
  readonly outlooks: ReadonlyMap<string, VersionOutlook>
  /** Objects whose last work failed, with its error. */
  readonly failing: ReadonlyMap<string, unknown>
  readonly apiGroup: string
}

export function changesBetween(compared: Compared): PlannedChange[] {
  const { before, objects, failing } = compared
  const after = snapshotOf(objects)
  const removed = [...before].filter(([id]) => !after.has(id)).map(([, object]) => object)
  const changes = [
    ...removed.map(removedChange),
    ...[...after].flatMap(([id, object]) => [...changesOf(object, before.get(id), compared)]),
  ]
  const merged = mergedVersions(changes)
  const failed = new Set(merged.filter(({ action }) => action === 'fail').map(idOf))
  const unexplained = [...failing]
    .filter(([id]) => !failed.has(id) && !id.startsWith('Version ') && !id.startsWith('Depot '))
    .map(([id, error]) => failedChange(id, messageOf(error)))
  return [...merged, ...unexplained].toSorted(inOrder)
}

/** A decision that lets a version in, which is fetched or given back then. */
export function exceptedChange(decision: PolicyDecision): PlannedChange {
  const { object, address, version, by, reason } = decision
  const message = `${address}, by the exception of ${by}: ${reason}`
  return { action: 'except', ...object, versions: [version], message }
}

function failedChange(id: string, message: string): PlannedChange {
  const [, kind = '', namespace = '', name = ''] = /^(\w+) (.*)\/(.*)$/.exec(id) ?? []
  const known = plannedKinds.find((one) => one === kind) ?? 'Depot'
  return { action: 'fail', kind: known, namespace, name, message }
}

function removedChange(object: StoredObject): PlannedChange {
  if (object.kind === 'Version') return ofVersion(object, 'remove')
  return { action: 'remove', ...refOf(object) }
}

function* changesOf(
  object: StoredObject,
  before: StoredObject | undefined,
  compared: Compared,
): Generator<PlannedChange> {
  const ref = refOf(object)
  const { isAsked, outlooks, apiGroup } = compared
  if (object.kind === 'Version') {
    const outlook = outlooks.get(idOf(ref))
    if (outlook === undefined || outlook.step === 'keep') return
    const message = 'message' in outlook ? outlook.message : undefined
    yield ofVersion(object, outlook.step, message)
    return
  }
  const label = `${apiGroup}/depot`
  const [depot, depotBefore] = [object.metadata.labels[label], before?.metadata.labels[label]]
  if (before === undefined) {
    const message = depot === undefined ? undefined : `for Depot ${depot}`
    yield { action: 'create', ...ref, message }
  } else {
    const fields = differingFields(before.spec, object.spec)
    if (fields.length > 0) yield { action: 'change', ...ref, message: fields.join(', ') }
    if (depotBefore !== undefined && depot === undefined) {
      const message = `Depot ${depotBefore} no longer manages it; it stays with its versions`
      yield { action: 'release', ...ref, message }
    }
  }
  if (isAsked(ref)) yield* reported(object, before)
}

/** Reads the statuses that reconcilers wrote. */
function* reported(
  object: StoredObject,
  before: StoredObject | undefined,
): Generator<PlannedChange> {
  const ref = refOf(object)
  const ready = conditionOf(object.status as Depot['status'], 'Ready')
  if (object.kind === 'Depot' && ready?.reason !== 'InvalidSpec') {
    for (const { kind, name, message } of (object.status as Depot['status'])?.items ?? []) {
      if (message === undefined) continue
      yield { action: 'fail', ...ref, message: `${kind} ${name}: ${message}` }
    }
    return
  }
  if (ready?.status === 'False' && !isOfVersions(ready)) {
    yield { action: 'fail', ...ref, message: ready.message }
  }
  const held = conditionOf(object.status as Module['status'], 'RemovalHeld')
  if (held?.status === 'True') yield { action: 'hold', ...ref, message: held.message }
  for (const { why, version, until, message } of heldBackIn(object)) {
    // Its Version says so, and stays as it is.
    if (why === 'Breaking') continue
    const parts = [until && `too young until ${until}`, message].filter(
      (part) => part !== undefined,
    )
    yield { action: 'wait', ...ref, versions: [version], message: parts.join('; ') }
  }
  const known = skippedBy(before)
  for (const one of skippedBy(object)) {
    if (known.some((other) => isDeepStrictEqual(other, one))) continue
    const { version, platform, message } = one
    const versions = [platform === undefined ? version : `${version} ${platform}`]
    yield { action: 'skip', ...ref, versions, message }
  }
}

function skippedBy(object: StoredObject | undefined) {
  return object?.kind === 'Depot' ? [] : ((object?.status as Module['status'])?.skipped ?? [])
}

/** Whether a Module or Provider fails only because some of its Versions do, which are reported themselves. */
function isOfVersions({ reason, message }: Condition): boolean {
  return /^(?:PartiallySynced|SyncFailed|WaitingForSpool)$/.test(reason) || / wait; /.test(message)
}

/** Fields of a spec that differ, such as `moduleConfig.versionConstraints`. */
function differingFields(before: unknown, after: unknown, path = ''): string[] {
  if (isDeepStrictEqual(before, after)) return []
  if (!isRecord(before) || !isRecord(after)) return [path]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) =>
    differingFields(before[name], after[name], path === '' ? name : `${path}.${name}`),
  )
}

/** A change of a Version is told of its Module or Provider. */
function ofVersion(object: StoredObject, action: Action, message?: string): PlannedChange {
  const { namespace, ownerReferences } = object.metadata
  const owner = ownerReferences.find(({ controller }) => controller === true)
  const kind = plannedKinds.find((one) => one === owner?.kind)
  const { version } = object.spec as Version['spec']
  const versions = [identityOfStored(object) || version]
  if (owner === undefined || kind === undefined)
    return { action, ...refOf(object), versions, message }
  return { action, kind, namespace, name: owner.name, versions, message }
}

/** Joins changes that differ only in their versions. */
function mergedVersions(changes: readonly PlannedChange[]): PlannedChange[] {
  const groups = Map.groupBy(changes, ({ versions, ...rest }) =>
    JSON.stringify([rest, versions === undefined]),
  )
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first?.versions === undefined) return group
    return [
      { ...first, versions: group.flatMap(({ versions = [] }) => versions).toSorted(byNumber) },
    ]
  })
}

const byNumber = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

const inOrder = (a: PlannedChange, b: PlannedChange): number =>
  plannedKinds.indexOf(a.kind) - plannedKinds.indexOf(b.kind) ||
  byNumber(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`) ||
  actionOrder.indexOf(a.action) - actionOrder.indexOf(b.action)

/** In the order of a report. */
const plannedKinds: readonly ObjectKind[] = ['Depot', 'Module', 'Provider', 'Version']

export function idOf({ kind, namespace, name }: StoredRef): string {
  return `${kind} ${namespace}/${name}`
}

/** All objects as they are now. */
export function snapshotOf({ list }: Pick<Objects, 'list'>): ReadonlyMap<string, StoredObject> {
  return new Map(
    plannedKinds
      .flatMap((kind) => list(kind))
      .map((object) => [idOf({ kind: object.kind, ...object.metadata }), object]),
  )
}
