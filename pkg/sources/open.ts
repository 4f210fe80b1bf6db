import type { Egress } from '../egress/egress.ts'
import type { Spool } from '../spool/spool.ts'
import type { Logger, Metrics } from '../telemetry/telemetry.ts'
import type { ModuleOrigin, ModuleSource } from './module-source.ts'
import type { ProviderOrigin, ProviderUpstream } from './provider-upstream.ts'

export interface SourcesOptions {
  readonly egress: Egress
  readonly spool: Spool
  /** The data of a Secret; undefined where there is none. */
  readonly secrets: (
    namespace: string,
    name: string,
  ) => Promise<Readonly<Record<string, Buffer>> | undefined>
  /** A folder for lists of versions, made where it is missing. */
  readonly listingsDir: string
  /** Registries of providers and modules; the first is the default. */
  readonly upstreamHosts: readonly string[]
  /** Name of the Secret for GitHub where a resource names none. Default: depot-github. */
  readonly githubSecretName?: string | undefined
  /** Default: https://api.github.com. */
  readonly githubApiUrl?: string | undefined
  readonly log: Logger
  readonly metrics: Metrics
  /** Milliseconds since 1970. */
  readonly clock?: () => number
}

export interface Sources {
  /** @param namespace where Secrets are read @throws SourceError InvalidSpec */
  module(origin: ModuleOrigin, namespace: string): ModuleSource
  /** @throws SourceError InvalidSpec */
  provider(origin: ProviderOrigin, namespace: string): ProviderUpstream
}

export function openSources(_options: SourcesOptions): Sources {
  throw new Error('to be written')
}
