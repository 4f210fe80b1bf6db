import { formatPath, mistakesIn, parseResource } from '../../../api/v1alpha1/v1alpha1.ts'
import { ApiError } from '../../kube/kube.ts'
import type { StoredRef } from '../types.ts'

/** @throws ApiError Invalid if an API server would refuse it */
export function requireValid(
  { kind, namespace, name }: StoredRef,
  value: unknown,
  { withRules }: { readonly withRules: boolean },
): void {
  const parsed = parseResource(kind, value)
  const [issue] = parsed.ok ? (withRules ? mistakesIn(parsed.resource) : []) : parsed.issues
  if (issue === undefined) return
  const message = `${kind} ${namespace}/${name}: ${formatPath(issue.path)} ${issue.message}`
  throw new ApiError('Invalid', message)
}
