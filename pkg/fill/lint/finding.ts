import type { ObjectKey } from '../../api/v1alpha1/v1alpha1.ts'

/** Every check by its name, with what it is about: the names are stable, and SARIF lists them. */
export const checks = {
  syntax: 'The file cannot be read as YAML or JSON.',
  schema: 'A field is missing, or has the wrong type.',
  'unknown-field': 'A field is one that nothing reads.',
  value: 'A value cannot work.',
  'duplicate-object': 'Two objects have one kind, namespace and name.',
  'no-parent': 'A Version belongs to no Module or Provider.',
  'no-storage': 'No place says where an archive is.',
  'no-file-name': 'A Version does not say which file its archive is.',
  'no-archive': 'There is no archive where a Version says.',
  'wrong-digest': 'An archive is not the one that its Version describes.',
  'not-semver': 'A version is not a semantic version.',
  'duplicate-version': 'Two Versions are one version of one parent and platform.',
  'address-conflict': 'Two modules or providers claim one address.',
  expression: 'A GroupBinding cannot be evaluated.',
  'ignored-binding': 'A GroupBinding is in a namespace where none is read.',
  'public-label': 'A label does not make anything public.',
} as const
export type Check = keyof typeof checks

/** Something that is wrong with a set of manifests. */
export interface Finding {
  readonly check: Check
  /** An error keeps something from working; a warning is worth a look. */
  readonly level: 'error' | 'warning'
  readonly file: string
  /** From 1; undefined where it is not known. */
  readonly line: number | undefined
  readonly object: ObjectKey | undefined
  /** `spec.fileName`, where one field is meant. */
  readonly field?: string | undefined
  /** What is wrong, and what to write instead. */
  readonly message: string
}
