import { namespaceName, objectName } from './rules.ts'
import type { FieldIssue, Resource } from './types.ts'

/** A public label without effect, because its value does not count. */
export function publicLabelIssue(
  { metadata: { labels } }: Resource,
  apiGroup: string,
): FieldIssue | undefined {
  const label = `${apiGroup}/public`
  const value = labels[label]
  if (value === undefined || value === 'true' || value === 'false') return undefined
  return {
    path: ['metadata', 'labels', label],
    message: `the label ${label} is ${JSON.stringify(value)}, which makes nothing public: write "true", in quotes`,
  }
}

/** A public label without effect, because its namespace lacks it. */
export function hiddenLabelIssue(
  { kind, metadata: { labels, namespace } }: Resource,
  apiGroup: string,
  isPublic: (namespace: string) => boolean,
): FieldIssue | undefined {
  const label = `${apiGroup}/public`
  if (labels[label] !== 'true' || kind === 'Namespace' || isPublic(namespace)) return undefined
  return {
    path: ['metadata', 'labels', label],
    message: `the label ${label} makes nothing public, because Namespace ${namespace} does not have it: label that too`,
  }
}

/** A GroupBinding in a namespace where none is read. @param namespace the one whose GroupBindings count */
export function ignoredBindingIssue(
  { kind, metadata }: Resource,
  namespace: string,
): FieldIssue | undefined {
  if (kind !== 'GroupBinding' || metadata.namespace === namespace) return undefined
  return {
    path: ['metadata', 'namespace'],
    message: `GroupBindings are read from namespace ${namespace} only, and this one is in ${metadata.namespace}: move it, or name its namespace by --namespace`,
  }
}

/** A name or namespace that clusters refuse. */
export function nameIssue({ kind, metadata }: Resource): FieldIssue | undefined {
  const { name, namespace } = metadata
  const [rule, place] = kind === 'Namespace' ? [namespaceName, ''] : [objectName, namespace]
  if (!rule.holds(name)) return { path: ['metadata', 'name'], message: rule.message }
  if (place === '' || namespaceName.holds(place)) return undefined
  return { path: ['metadata', 'namespace'], message: namespaceName.message }
}
