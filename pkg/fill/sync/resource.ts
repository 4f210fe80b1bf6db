import {
  formatPath,
  mistakesIn,
  parseResource,
  type ResourceOf,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { ObjectKind, StoredObject } from '../../records/store/store.ts'
import { FillError } from '../sources/sources.ts'

/** Parses an object with its schema. @throws FillError InvalidSpec, naming the field */
export function resourceOf<K extends ObjectKind>(kind: K, object: StoredObject): ResourceOf<K> {
  const parsed = parseResource(kind, object)
  const issues = parsed.ok ? mistakesIn(parsed.resource) : parsed.issues
  const [first] = issues.filter(({ path }) => path[0] !== 'status')
  if (first !== undefined) {
    throw new FillError('InvalidSpec', `${formatPath(first.path)} ${first.message}`)
  }
  if (parsed.ok) return parsed.resource
  // Only the status is wrong, and the controller writes the status itself.
  const { status: _, ...rest } = object
  return resourceOf(kind, rest)
}
