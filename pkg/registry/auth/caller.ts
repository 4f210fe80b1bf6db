import type { Binding } from '../access/access.ts'

/** How the server is configured to recognize callers. */
export type AuthMode = 'anonymous' | 'kubeconfig' | 'bearer' | 'oidc'

/**
 * `anonymous`: no caller is asked. `guest`: a caller without a token where that is allowed. `user`: a person with a token of
 * the issuer. `machine`: a program with one. `passthrough`: a caller whom only the cluster knows.
 */
export type CallerKind = 'anonymous' | 'guest' | 'user' | 'machine' | 'passthrough'

/** Who sent a request, as far as that is known. */
export interface Caller {
  readonly mode: AuthMode
  readonly kind: CallerKind
  /** `sub` of the token; undefined where no token of the issuer says it. */
  readonly subject: string | undefined
  /** In the order of the token. */
  readonly groups: readonly string[]
  /** Tells callers apart in a log, and not who they are; another one in each process. */
  readonly hash: string | undefined
}

/** What browsing shows a caller: everything, what is public, or that and what a binding allows. */
export type CallerView = 'all' | 'public' | Binding
