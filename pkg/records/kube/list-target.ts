import { apiVersion, type Kind, kinds } from '../../api/v1alpha1/v1alpha1.ts'

/** A resource that a reflector reads, in all namespaces or one. */
export interface ListTarget {
  /** Name in metrics and log lines. */
  readonly kind: string
  /** As in kubectl: `modules.depot.internal`. */
  readonly resource: string
  readonly namespace?: string
  readonly path: string
  /** Selectors. */
  readonly query?: Readonly<Record<string, string>>
  /** Whether a cluster may lack the definition of the resource. Then it counts as empty. */
  readonly optional?: boolean
}

/** The objects of a cluster to read. */
export interface Scope {
  /** The only namespace to read, for which a Role is enough. Default: all. */
  readonly watchNamespace?: string | undefined
  /** The only namespace whose GroupBindings count. */
  readonly bindingsNamespace: string
}

/** GroupBindings count in one namespace only, because whoever may write there decides who sees what. */
export function targetOf(
  kind: Kind,
  apiGroup: string,
  { watchNamespace, bindingsNamespace }: Scope,
): ListTarget {
  const { plural, core } = kinds[kind]
  const root = core ? '/api/v1' : `/apis/${apiGroup}/${apiVersion}`
  const resource = core ? plural : `${plural}.${apiGroup}`
  const optional = kind === 'Depot' || kind === 'GroupBinding'
  if (kind === 'Namespace') {
    const query = { fieldSelector: `metadata.name=${watchNamespace}` }
    return { kind, resource, path: `${root}/${plural}`, ...(watchNamespace && { query }) }
  }
  const namespace = kind === 'GroupBinding' ? bindingsNamespace : watchNamespace
  if (namespace === undefined) return { kind, resource, path: `${root}/${plural}`, optional }
  const path = `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`
  return { kind, resource, namespace, path, optional }
}

/** Path and query of a request. */
export function requestPath(
  { path, query }: ListTarget,
  parameters: Readonly<Record<string, string | number>>,
): string {
  const all = { ...query, ...parameters }
  const text = Object.entries(all).map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
  return `${path}?${text.join('&')}`
}
