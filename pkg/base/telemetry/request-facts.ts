/**
 * Facts about a request for the access log. Handlers fill them in as they learn them; the server logs them when the
 * response is over.
 */
export interface RequestFacts {
  /** Pattern of the route: no other part of a path may label a metric. */
  route?: string
  namespace?: string
  kind?: 'Module' | 'Provider'
  name?: string
  version?: string
  /** The authentication mode. */
  mode?: string
  /** Distinguishes callers without naming them. */
  callerHash?: string
  /** `sub` of the caller's token: for the audit log alone, as it says who they are. */
  subject?: string
  /** The name of the caller in lists of consumers: read where a download counts, as finding it may take time. */
  consumer?: (() => string | undefined) | undefined
  /** The caller's view: `all`, `public`, `binding NAME`, or `cluster` if RBAC decides. */
  view?: string
  /** Why the caller was refused. */
  refusal?: { readonly reason: string; readonly message: string }
}
