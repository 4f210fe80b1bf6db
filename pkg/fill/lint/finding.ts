import {
  type FieldIssue,
  formatPath,
  type ObjectKey,
  type Resource,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Reason } from '../../base/errors/errors.ts'
import type { Written } from '../../records/folder/folder.ts'

/** Every check, with a description for SARIF. The names are stable. */
export const checks = {
  syntax: 'The file cannot be read as YAML or JSON.',
  schema: 'A field is missing, or has the wrong type.',
  'unknown-field': 'A field is unknown, so it has no effect.',
  value: 'A value is not valid.',
  'duplicate-object': 'Two objects have the same kind, namespace and name.',
  'no-parent': 'A Version has no Module or Provider.',
  'no-storage': 'No storageConfig says where an archive is.',
  'no-file-name': 'A Version does not name the file of its archive.',
  'no-archive': 'The archive of a Version does not exist.',
  'bad-archive': 'CLIs cannot use an archive.',
  'bad-module': 'A file of a module cannot be read as configuration.',
  'other-archive': 'The name of an archive belongs to another provider, version or platform.',
  'wrong-digest': 'An archive does not have the digest of its Version.',
  'not-semver': 'A version is not a semantic version.',
  'duplicate-version': 'Two Versions have the same parent, version and platform.',
  'incomplete-release': 'A release of a provider lacks platforms.',
  'address-conflict': 'Two modules or providers claim the same address.',
  constraint: 'A version constraint cannot be read.',
  policy: 'A rule of a policy cannot be read.',
  'accepted-finding': 'An entry of scanPolicy.ignore has no effect.',
  source: 'A source cannot be fetched.',
  expression: 'A GroupBinding cannot be evaluated.',
  'ignored-binding': 'A GroupBinding is in a namespace where GroupBindings are ignored.',
  'no-match': 'A name or pattern of a GroupBinding matches nothing.',
  'public-label': 'A label does not make anything public.',
  'no-namespace': 'An object has no namespace, but others do.',
  'nothing-found': 'A file or folder contains no resource of Depot.',
} as const
export type Check = keyof typeof checks

/** Reasons that servers and the controller give for the same mistakes. */
const reasons: Readonly<Partial<Record<Check, Reason>>> = {
  syntax: 'InvalidSyntax',
  schema: 'Invalid',
  'duplicate-object': 'Duplicate',
  'no-parent': 'ParentMissing',
  'no-storage': 'NoStorage',
  'no-file-name': 'NoFileName',
  'wrong-digest': 'ChecksumMismatch',
  constraint: 'InvalidConstraint',
  policy: 'InvalidSpec',
  source: 'InvalidSpec',
  expression: 'InvalidExpression',
  'not-semver': 'NotSemver',
  'duplicate-version': 'Duplicate',
  'incomplete-release': 'ReleaseIncomplete',
  'address-conflict': 'AddressTaken',
}

/** The reason of a finding: its own, otherwise that of its check. */
export const reasonOf = ({ check, reason = reasons[check] }: LintFinding): Reason | undefined =>
  reason

/** A mistake in a set of manifests. */
export interface LintFinding {
  readonly check: Check
  /** An error prevents something from working; a warning is worth a look. */
  readonly level: 'error' | 'warning'
  readonly file: string
  /** From 1; undefined if it is not known. */
  readonly line: number | undefined
  readonly object: ObjectKey | undefined
  /** The field, such as `spec.fileName`. */
  readonly field?: string | undefined
  /** The name that programs of Depot have for the mistake, if they report it. */
  readonly reason?: Reason | undefined
  /** Names the mistake and its correction. */
  readonly message: string
}

export interface LintResult {
  readonly findings: readonly LintFinding[]
  readonly files: number
  readonly objects: number
}

/** An object of the manifests and its place. */
export interface PlacedObject<R extends Resource = Resource> {
  readonly file: string
  readonly line: number | undefined
  readonly key: ObjectKey
  readonly resource: R
  readonly written: Written | undefined
}

type Place = Omit<PlacedObject, 'resource' | 'written'>

/** Creates a finding about an object, or about a field of it. */
export function about(
  { file, line, key, written }: Place & { readonly written?: Written | undefined },
  check: Check,
  message: string,
  { path = [], ...more }: Partial<Pick<LintFinding, 'level' | 'reason'> & FieldIssue> = {},
): LintFinding {
  const field = path.length === 0 ? undefined : formatPath(path)
  const at = (path.length === 0 ? undefined : written?.lineOf(path)) ?? line
  return { check, level: 'error', file, line: at, object: key, field, message, ...more }
}

/** One finding for items with the same cause: about the first, with the number of the others. */
export function* oncePerCause<T>(
  items: readonly T[],
  causeOf: (item: T) => string | undefined,
  findingOf: (first: T) => LintFinding,
): Generator<LintFinding> {
  for (const [first, ...others] of groupBy(items, causeOf).values()) {
    if (first === undefined) continue
    const found = findingOf(first)
    const more = others.length === 0 ? '' : ` (${others.length} more like it)`
    yield { ...found, message: `${found.message}${more}` }
  }
}

export function isOf<K extends Resource['kind']>(kind: K) {
  return (placed: PlacedObject): placed is PlacedObject<Extract<Resource, { kind: K }>> =>
    placed.resource.kind === kind
}

/** `team/network-1.0.0 in network.yaml:12`, for a message about another object. */
export function placeOf({ file, line, key }: Place): string {
  return `${key.namespace}/${key.name} in ${file}${line === undefined ? '' : `:${line}`}`
}

/** Groups items by a text; items without a text are left out. */
export function groupBy<T>(
  items: readonly T[],
  textOf: (item: T) => string | undefined,
): Map<string | undefined, T[]> {
  const groups = Map.groupBy(items, textOf)
  groups.delete(undefined)
  return groups
}

/** Finds items that repeat the text of an earlier item, each with the first item. */
export function* repeats<T>(
  items: readonly T[],
  textOf: (item: T) => string | undefined,
): Generator<readonly [first: T, other: T]> {
  for (const [first, ...others] of groupBy(items, textOf).values()) {
    for (const other of others) if (first !== undefined) yield [first, other]
  }
}
