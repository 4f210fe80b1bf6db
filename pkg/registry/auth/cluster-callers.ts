import { presentedIn } from './bearer.ts'
import type { CallerView } from './caller.ts'
import type { AccessNow, AuthRequest } from './known-callers.ts'
import type { AuthMetrics } from './metrics.ts'
import type { Passthrough } from './passthrough.ts'
import { Refusal } from './refusal.ts'
import {
  type CallerSession,
  type Callers,
  noteCaller,
  type Presented,
  passthroughSession,
  type ResourceKey,
} from './session.ts'

export interface ClusterCallersOptions {
  readonly mode: 'kubeconfig' | 'bearer'
  readonly cluster: Passthrough
  readonly hashOf: (token: string) => string
  /** The caller of all pages, because the cluster is not asked for every page. */
  readonly guest: CallerSession
  readonly metrics: AuthMetrics
}

const howTo = {
  kubeconfig:
    'send "Authorization: Bearer" with the base64 of a kubeconfig (kubectl config view --raw --minify --flatten | base64 -w0)',
  bearer:
    'send "Authorization: Bearer" with a service-account token (kubectl create token NAME --namespace NAMESPACE)',
}

/** Callers that only the cluster knows. The cluster decides what they may read. */
export class ClusterCallers implements Callers, AccessNow {
  readonly #options: ClusterCallersOptions

  constructor(options: ClusterCallersOptions) {
    this.#options = options
  }

  identify(token: string, hash: string): CallerSession & { readonly presented: Presented } {
    const { mode, cluster } = this.#options
    const format = mode === 'kubeconfig' ? 'kubeconfig' : 'token'
    return passthroughSession(mode, { format, token, hash }, cluster.identityNow)
  }

  missing(): Refusal {
    return new Refusal('NoCredentials', `credentials are needed: ${howTo[this.#options.mode]}`)
  }

  readerOf(
    { authorization, facts }: AuthRequest,
    ...resource: ResourceKey
  ): { readonly count: () => void } | undefined {
    const { cluster, hashOf, metrics } = this.#options
    const token = authorization === undefined ? undefined : presentedIn(authorization)
    if (token === undefined) return undefined
    const { caller, presented } = this.identify(token, hashOf(token))
    if (!cluster.allowedNow(presented, ...resource)) return undefined
    noteCaller(facts, caller, 'cluster')
    return { count: () => void (metrics.allowed[caller.kind] += 1) }
  }

  viewOf({ facts }: AuthRequest): { readonly view: CallerView; readonly count: () => void } {
    const { guest, metrics } = this.#options
    noteCaller(facts, guest.caller, 'public')
    return { view: 'public', count: () => void (metrics.allowed.guest += 1) }
  }
}
