import {
  formatPath,
  mistakesIn,
  parseResource,
  type ResourceOf,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { ObjectKind, StoredObject } from '../../records/store/store.ts'
import { type Failure, mistake } from './failure.ts'

/** An object as its schema reads it. @throws Failure InvalidSpec, naming the field */
export function resourceOf<K extends ObjectKind>(kind: K, object: StoredObject): ResourceOf<K> {
  const parsed = parseResource(kind, object)
  const issues = parsed.ok ? mistakesIn(parsed.resource) : parsed.issues
  const [first] = issues.filter(({ path }) => path[0] !== 'status')
  if (first !== undefined) throw invalid(first.path, first.message)
  if (parsed.ok) return parsed.resource
  // Only the status is wrong, and that is ours to write.
  const { status: _, ...rest } = object
  return resourceOf(kind, rest)
}

function invalid(path: readonly (string | number)[], message: string): Failure {
  return mistake('InvalidSpec', `${formatPath(path)} ${message}`)
}
