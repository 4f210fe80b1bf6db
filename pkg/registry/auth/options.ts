import type { ProxyRules } from '../../base/http/http.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { GroupBindings } from '../access/access.ts'
import type { IssuerTimings } from './issuer.ts'
import type { PassthroughOptions } from './passthrough.ts'
import type { LoginSettings } from './provider-metadata.ts'
import type { PublishIssuersOptions } from './publish-issuers.ts'
import type { AuthMode, ConsumerRules, ResourceKey } from './session.ts'

export interface OidcAuthOptions extends LoginSettings {
  readonly issuerUrl: string
  /** Address of the issuer inside the network: scheme, host and port. */
  readonly reachedAt?: string | undefined
  /** Client of the explorer: a second audience of people. */
  readonly uiClientId?: string | undefined
  readonly groupsClaim: string
  /** Callers without a token are guests, who see public resources. */
  readonly allowGuests: boolean
  /** The cluster decides about tokens of other issuers; needs `cluster`. */
  readonly allowFallback: boolean
  /** Accepts tokens of other clients of the issuer, each as a group of its own. */
  readonly allowClientCredentials: boolean
  /** Which people are kept as consumers. Default: none. */
  readonly consumers?: ConsumerRules | undefined
  /** Proxies for the issuer. Default: none. */
  readonly proxies?: ProxyRules | undefined
  readonly timings?: Partial<IssuerTimings>
}

export interface AuthOptions {
  readonly mode: AuthMode
  /** For mode oidc. */
  readonly oidc?: OidcAuthOptions | undefined
  /** For modes kubeconfig and bearer, and for the fallback. */
  readonly cluster?:
    | Pick<PassthroughOptions, 'apiGroup' | 'address' | 'ttlMs' | 'connections'>
    | undefined
  /** Issuers of CI, whose jobs may publish. For all modes but anonymous. */
  readonly publishIssuers?: Pick<PublishIssuersOptions, 'file' | 'proxies' | 'timings'> | undefined
  readonly bindings: GroupBindings
  /** Whether a resource and its namespace are both labelled public. */
  readonly isPublic: (...resource: ResourceKey) => boolean
  readonly log: Logger
  readonly metrics: Metrics
  /** Default: the clock of the machine. */
  readonly clock?: Clock
}
