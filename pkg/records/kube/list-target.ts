import { apiVersion, type Kind, kinds } from '../../api/v1alpha1/v1alpha1.ts'

/** A resource of the API that a reflector reads, in all namespaces or one. */
export interface ListTarget {
  /** Name in metrics and log lines. */
  readonly kind: string
  /** As kubectl names it: `modules.depot.internal`. */
  readonly resource: string
  readonly namespace?: string
  readonly path: string
  /** Selectors. */
  readonly query?: Readonly<Record<string, string>>
  /** A cluster may lack the definition of the resource; then it counts as empty. */
  readonly optional?: boolean
}

/** Which objects of a cluster are read. */
export interface Scope {
  /** This namespace only, for which a Role is enough. Default: all of them. */
  readonly watchNamespace?: string | undefined
  /** The one namespace whose GroupBindings count. */
  readonly bindingsNamespace: string
}

/** GroupBindings count in one namespace only: who may write there decides who sees what. */
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
