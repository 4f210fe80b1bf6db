import type { PublishedBy } from '../../api/v1alpha1/v1alpha1.ts'
import type { Binding } from '../access/access.ts'

/** How the server identifies callers. */
export type AuthMode = 'anonymous' | 'kubeconfig' | 'bearer' | 'oidc'

/**
 * `anonymous`: callers are not identified. `guest`: a caller without a token, if allowed. `user`: a person with a token of
 * the issuer. `machine`: a program with such a token. `passthrough`: a caller that only the cluster knows.
 */
export type CallerKind = 'anonymous' | 'guest' | 'user' | 'machine' | 'passthrough'

/** The sender of a request, as far as known. */
export interface Caller {
  readonly mode: AuthMode
  readonly kind: CallerKind
  /** `sub` of the token; undefined without a token of the issuer. */
  readonly subject: string | undefined
  /** In the order of the token. */
  readonly groups: readonly string[]
  /** The name of the caller in lists of consumers; absent if it must not be kept. */
  readonly consumer?: (() => string | undefined) | undefined
  /** Whether it has a token of CI, which anybody can get. */
  readonly isJob?: boolean
  /** The verified issuer and, for a job of CI, where it runs. */
  readonly origin?: Omit<PublishedBy, 'by'> | undefined
  /** Distinguishes callers in logs without identifying them. Different in each process. */
  readonly hash: string | undefined
}

/** The view of a caller when browsing: everything, public resources, or these and what a binding allows. */
export type CallerView = 'all' | 'public' | Binding
