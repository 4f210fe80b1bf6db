import type { Spool } from '../../archives/spool/spool.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { Egress } from '../egress/egress.ts'
import { archiveSource } from './archive.ts'
import { Discovery } from './discovery.ts'
import { SourceError } from './errors.ts'
import { Git } from './git.ts'
import { gitSource } from './git-source.ts'
import { githubSource } from './github.ts'
import { GithubApps } from './github-app.ts'
import { ListingCache } from './listing-cache.ts'
import { createFetchMetrics } from './metrics.ts'
import type { ModuleOrigin, ModuleSource } from './module-source.ts'
import { githubPlace, httpsUrl, moduleAddressOf, providerAddressOf } from './places.ts'
import type { ProviderOrigin, ProviderUpstream } from './provider-upstream.ts'
import { registryModuleSource } from './registry-modules.ts'
import { openDocuments, registryProvider } from './registry-providers.ts'
import { type Access, accessOf, readSecret, type Secrets } from './secrets.ts'
import { Upstream } from './upstream.ts'

export interface SourcesOptions {
  readonly egress: Egress
  readonly spool: Spool
  readonly secrets: Secrets
  /** A folder for lists of versions, made where it is missing. */
  readonly listingsDir: string
  /** Registries of providers and modules, as `host` or `host:port`; the first is the default. */
  readonly upstreamHosts: readonly string[]
  /** Name of the Secret for GitHub where a resource names none. Default: depot-github. */
  readonly githubSecretName?: string | undefined
  /** Default: https://api.github.com. */
  readonly githubApiUrl?: string | undefined
  /** The program. Default: git, on PATH. */
  readonly gitCommand?: string | undefined
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock?: Clock
}

export interface Sources {
  /** @param namespace where Secrets are read @throws SourceError InvalidSpec */
  module(origin: ModuleOrigin, namespace: string): ModuleSource
  /** @throws SourceError InvalidSpec */
  provider(origin: ProviderOrigin, namespace: string): ProviderUpstream
}

export function openSources(options: SourcesOptions): Sources {
  const { egress, spool, secrets, upstreamHosts, clock = Date.now } = options
  const { githubSecretName = 'depot-github', githubApiUrl = 'https://api.github.com' } = options
  const metrics = createFetchMetrics(options.metrics)
  const log = options.log.child({ component: 'sources' })
  const upstream = new Upstream(egress, spool, metrics, clock)
  const cache = new ListingCache(options.listingsDir, log, clock)
  const git = new Git({ upstream, spool, metrics, command: options.gitCommand })
  const discovery = new Discovery(upstream, clock)
  const documents = openDocuments(clock)
  const apps = new GithubApps(upstream, clock)

  /** What the Secret of a source gives; nothing where it names none. */
  const accessFor = (name: string | undefined, namespace: string) => async (): Promise<Access> => {
    return name === undefined ? {} : accessOf(await readSecret(secrets, namespace, name), name)
  }

  function github(origin: ModuleOrigin, namespace: string): ModuleSource {
    const place = githubPlace(origin, githubApiUrl)
    const { useAuthenticatedClient, secretName } = origin.githubClientConfig ?? {}
    const named = origin.source?.secretRef?.name ?? secretName
    const name = named ?? (useAuthenticatedClient === true ? githubSecretName : undefined)
    return githubSource({
      ...place,
      ...inside(origin),
      upstream,
      cache,
      credential: async () =>
        name === undefined
          ? undefined
          : apps.credentialOf(() => readSecret(secrets, namespace, name), name, place.apiUrl),
    })
  }

  return {
    module(origin, namespace) {
      const { type = 'github', url } = origin.source ?? {}
      if (type === 'github') return github(origin, namespace)
      const access = accessFor(origin.source?.secretRef?.name, namespace)
      const at = { ...inside(origin), access, upstream, cache, git }
      if (type === 'git') return gitSource({ ...at, url: httpsUrl(url ?? origin.repoUrl) })
      if (type === 'archive') {
        const place = httpsUrl(url)
        if (url?.includes('{version}') === true)
          return archiveSource({ ...at, url: withMark(place) })
        throw new SourceError(
          'InvalidSpec',
          'source.url of an archive needs {version} in it, such as https://example.com/vpc-{version}.tar.gz',
        )
      }
      return registryModuleSource({ ...at, ...moduleAddressOf(url, upstreamHosts), discovery })
    },
    provider(origin, namespace) {
      const { signature = 'Required', trustedKeys = [] } = origin
      const address = providerAddressOf(origin, upstreamHosts)
      const access = accessFor(origin.secretRef?.name, namespace)
      const of = { upstream, cache, discovery, documents, access, clock }
      return registryProvider({ ...of, ...address, signature, trustedKeys })
    },
  }
}

const inside = ({ source }: ModuleOrigin) => ({
  path: source?.path,
  tagPrefix: source?.tagPrefix ?? '',
})

/** Reading a URL has escaped the mark. */
const withMark = (url: string): string => url.replaceAll('%7Bversion%7D', '{version}')
