import type { ObjectKey, Resource } from '../../api/v1alpha1/v1alpha1.ts'
import type { Reason } from '../../base/errors/errors.ts'

/** Every check, with a description for SARIF. The names are stable. */
export const checks = {
  syntax: 'The file cannot be read as YAML or JSON.',
  schema: 'A field is missing, or has the wrong type.',
  'unknown-field': 'Nothing reads a field.',
  value: 'A value is not valid.',
  'duplicate-object': 'Two objects have the same kind, namespace and name.',
  'no-parent': 'A Version has no Module or Provider.',
  'no-storage': 'No storageConfig names the place of an archive.',
  'no-file-name': 'A Version does not name the file of its archive.',
  'no-archive': 'The archive of a Version does not exist.',
  'wrong-digest': 'An archive does not have the digest of its Version.',
  'not-semver': 'A version is not a semantic version.',
  'duplicate-version': 'Two Versions have the same parent, version and platform.',
  'address-conflict': 'Two modules or providers claim the same address.',
  expression: 'A GroupBinding cannot be evaluated.',
  'ignored-binding': 'A GroupBinding is in a namespace where GroupBindings are ignored.',
  'public-label': 'A label does not make anything public.',
} as const
export type Check = keyof typeof checks

/** Reasons that a server gives for the same mistakes. */
export const reasons: Readonly<Partial<Record<Check, Reason>>> = {
  syntax: 'InvalidSyntax',
  schema: 'Invalid',
  'duplicate-object': 'Duplicate',
  'no-parent': 'ParentMissing',
  'no-storage': 'NoStorage',
  'no-file-name': 'NoFileName',
  'not-semver': 'NotSemver',
  'duplicate-version': 'Duplicate',
  'address-conflict': 'AddressTaken',
}

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
  /** Names the mistake and its correction. */
  readonly message: string
}

/** An object of the manifests and its place. */
export interface PlacedObject<R extends Resource = Resource> {
  readonly file: string
  readonly line: number | undefined
  readonly key: ObjectKey
  readonly resource: R
}

type Place = Omit<PlacedObject, 'resource'>

/** Creates a finding about an object. */
export function about(
  { file, line, key }: Place,
  check: Check,
  message: string,
  more: Partial<Pick<LintFinding, 'level' | 'field'>> = {},
): LintFinding {
  return { check, level: 'error', file, line, object: key, message, ...more }
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
