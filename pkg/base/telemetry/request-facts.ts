/**
 * What a handler knows of its request that the access log wants to tell. Handlers fill it in as they find out; the
 * server writes it down when the response is over.
 */
export interface RequestFacts {
  /** Pattern of the route, the only part of a path that may label a metric. */
  route?: string
  namespace?: string
  kind?: 'Module' | 'Provider'
  name?: string
  version?: string
  /** How callers are recognized. */
  mode?: string
  /** Tells callers apart, and not who they are. */
  callerHash?: string
  /** `sub` of the caller's token: for the audit log alone, as it says who they are. */
  subject?: string
  /** By what the caller is measured: `all`, `public`, `binding NAME`, or `cluster` where RBAC decides. */
  view?: string
  /** Why the caller was turned away. */
  refusal?: { readonly reason: string; readonly message: string }
}
