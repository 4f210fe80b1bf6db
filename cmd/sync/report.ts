import { codeOf, messageOf, printable } from '../../pkg/base/errors/errors.ts'
import type { StatusLine } from '../../pkg/base/run/run.ts'
import { heldBackCount } from '../../pkg/fill/sync/sync.ts'
import {
  ApiError,
  type FolderObjects,
  type Objects,
  type StoredObject,
} from '../../pkg/records/store/store.ts'

const kinds = ['Depot', 'Module', 'Provider', 'Version'] as const
/** Reasons of objects that only wait. */
const waitingReasons: readonly string[] = ['RateLimited', 'WaitingForSpool']

interface Told {
  readonly synced?: boolean
  readonly drift?: object
  readonly artifact?: { readonly storedAt?: string }
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly reason: string
    readonly message: string
  }[]
}

/** The archives that a run has stored and removed. */
export interface RunTally {
  stored: number
  /** Archives that were missing or altered in storage, or that replace others. */
  storedAgain: number
  removed: number
}

/** Prints a line for each stored archive, or draws their number on a terminal. @returns a function that stops it */
export function trackProgress(objects: Objects, line: StatusLine, tally: RunTally): () => void {
  return objects.onChange((ref, before, after) => {
    if (ref.kind !== 'Version') return
    if (after === undefined && toldOf(before).artifact !== undefined) tally.removed += 1
    const isAgain = isNewer(toldOf(after).artifact, toldOf(before).artifact)
    const isStored = !isAgain && toldOf(after).synced === true && toldOf(before).synced !== true
    if (isStored) tally.stored += 1
    if (isAgain) tally.storedAgain += 1
    if (line.isTerminal) line.draw(`${countsOf(objects)} ...`)
    else if (isStored) line.print(`stored ${ref.namespace}/${ref.name}`)
    else if (isAgain) line.print(`stored again ${ref.namespace}/${ref.name}`)
  })
}

const isNewer = (after: Told['artifact'], before: Told['artifact']): boolean =>
  after?.storedAt !== undefined && before !== undefined && after.storedAt !== before.storedAt

/**
 * Lists the problems, and the removals that a person has to confirm. Objects with the same problem share a line.
 *
 * @param failing errors of the last work, by object such as `Version team/vpc-1-0-0`. If the folder is full, the status of the
 *   object says what was true before
 */
export function problemsOf(
  objects: FolderObjects,
  failing: ReadonlyMap<string, unknown> = new Map(),
): string[] {
  const told = kinds.flatMap((kind) => objects.list(kind)).flatMap((object) => problemsIn(object))
  const failed = new Set(told.map(({ object }) => object.metadata.uid))
  const titles = new Set(told.map(({ object }) => titleOf(object)))
  const own = told
    .filter(({ object }) => !isUnwritten(failing.get(titleOf(object))))
    .filter(({ object }) => !repeatsChildren(objects, object, failed))
    .map(({ object, message }) => ({ title: titleOf(object), message, cause: message }))
  const untold = [...failing]
    .filter(([title, error]) => !titles.has(title) || isUnwritten(error))
    .map(([title, error]) => ({ title, message: messageOf(error), cause: causeOf(error) }))
  const byCause = Map.groupBy([...own, ...untold], ({ title, cause }) => {
    return `${partsOf(title).kind} ${cause}`
  })
  const unready = [...byCause.values()].map((group) => {
    const [{ title, message } = { title: '', message: '' }] = group
    const names = group.map((one) => partsOf(one.title).name)
    const more = names.length > 3 ? ` and ${names.length - 3} more` : ''
    const subject = `${partsOf(title).kind} ${names.slice(0, 3).join(', ')}${more}`
    // A person may have written the status.
    return `${subject}: ${printable(message, 1000)}`
  })
  const mistakes = objects.mistakes().map((mistake) => printable(mistake, 1000))
  if (objects.unreadable() === undefined) return [...unready, ...mistakes]
  return [...unready, ...mistakes, 'no archive was removed, because not everything can be read']
}

/** Whether an object could not be written, so that its status lacks what failed. */
const isUnwritten = (error: unknown): boolean => error instanceof ApiError

/** The part that failures of several files have in common: their messages name the file. */
const causeOf = (error: unknown): string =>
  (isUnwritten(error) && codeOf((error as ApiError).cause)) || messageOf(error)

const titleOf = ({ kind, metadata }: StoredObject): string =>
  `${kind} ${metadata.namespace}/${metadata.name}`

function partsOf(title: string): { readonly kind: string; readonly name: string } {
  const at = title.lastIndexOf(' ')
  return { kind: title.slice(0, at), name: title.slice(at + 1) }
}

function problemsIn(object: StoredObject) {
  const { conditions = [] } = toldOf(object)
  return conditions
    .filter(
      ({ type, status }) =>
        (type === 'Ready' && status === 'False') || (type === 'RemovalHeld' && status === 'True'),
    )
    .map(({ type, message }) => ({ object, type, message }))
}

/** Whether an object fails only because of its Versions, which have their own lines. */
function repeatsChildren(
  objects: Objects,
  object: StoredObject,
  failed: ReadonlySet<string>,
): boolean {
  if (object.kind !== 'Module' && object.kind !== 'Provider') return false
  const { uid: ownerUid, namespace } = object.metadata
  const { conditions = [] } = toldOf(object)
  const isHeld = conditions.some(({ type, status }) => type === 'RemovalHeld' && status === 'True')
  const children = objects.list('Version', { namespace, ownerUid })
  return !isHeld && children.some(({ metadata }) => failed.has(metadata.uid))
}

/** `+3 stored, ~1 drifted, 2 waiting until 14:12, 1 failed: REASON`; empty if there is nothing to say. */
export function outcomeOf(
  objects: Objects,
  { stored, storedAgain, removed }: RunTally,
  nextTryMs: number | undefined,
): string {
  const versions = objects.list('Version')
  const drifted = versions.filter((version) => toldOf(version).drift !== undefined).length
  const heldBack = heldBackCount(objects)
  const failures = [...objects.list('Depot'), ...versions].flatMap((object) =>
    (toldOf(object).conditions ?? []).filter(
      ({ type, status }) => type === 'Ready' && status === 'False',
    ),
  )
  const [waiting = [], failed = []] = [true, false].map((isWaiting) =>
    failures.filter(({ reason }) => waitingReasons.includes(reason) === isWaiting),
  )
  const until = nextTryMs === undefined ? '' : ` until ${timeOfDay(nextTryMs)}`
  const parts = [
    stored > 0 && `+${stored} stored`,
    storedAgain > 0 && `${storedAgain} stored again`,
    removed > 0 && `-${removed} removed`,
    drifted > 0 && `~${drifted} drifted`,
    heldBack > 0 && `${heldBack} held back`,
    waiting.length > 0 && `${waiting.length} waiting${until}`,
    failed.length > 0 &&
      `${failed.length} failed: ${[...new Set(failed.map(({ reason }) => reason))].join(', ')}`,
  ]
  return parts.filter((part) => part !== false).join(', ')
}

const timeOfDay = (ms: number): string => new Date(ms).toTimeString().slice(0, 5)

/** Sums up in one line what is stored. */
export function summaryOf(objects: Objects): string {
  return kinds.every((kind) => objects.list(kind).length === 0)
    ? 'nothing to do: no Depot, Module or Provider is in the folder'
    : countsOf(objects)
}

function countsOf(objects: Objects): string {
  const versions = objects.list('Version')
  const synced = versions.filter((version) => toldOf(version).synced === true).length
  return `${synced} of ${versions.length} versions are stored`
}

function toldOf(object: StoredObject | undefined): Told {
  return object?.status ?? {}
}
