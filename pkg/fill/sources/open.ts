import type { Spool } from '../../archives/spool/spool.ts'
import { printable } from '../../base/errors/errors.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { Egress, EgressAnswer, EgressRequest } from '../egress/egress.ts'
import { archiveModule } from './archive.ts'
import { FillError } from './errors.ts'
import { Git, gitModule } from './git.ts'
import { type GithubPlace, githubModule } from './github.ts'
import { GithubApps } from './github-app.ts'
import { ListingCache } from './listings.ts'
import { PublishedDates } from './published.ts'
import { type RegistryService, ServiceDiscovery, type ServicesOf } from './registry.ts'
import { registryModule } from './registry-modules.ts'
import { openDocuments, RegistryProvider } from './registry-providers.ts'
import { accessOf, type ReadSecret, readSecret, type SourceAccess } from './secrets.ts'
import type {
  ModuleOrigin,
  ModuleUpstream,
  ProviderOrigin,
  ProviderUpstream,
  UpstreamOptions,
} from './types.ts'
import { UpstreamClient } from './upstream.ts'

export interface SourcesOptions {
  readonly egress: Egress
  readonly spool: Spool
  readonly secrets: ReadSecret
  /** A folder for lists of versions; created if it does not exist. */
  readonly listingsDir: string
  /** Registries of providers and modules, as `host` or `host:port`; the first is the default. */
  readonly upstreamHosts: readonly string[]
  /** Name of the Secret for GitHub if a resource names none. Default: depot-github. */
  readonly githubSecretName?: string | undefined
  /** Default: https://api.github.com. */
  readonly githubApiUrl?: string | undefined
  /** The program. Default: git, on PATH. */
  readonly gitCommand?: string | undefined
  /** How a person accepts a provider without a signature. Default: a field of the resource. */
  readonly unsignedRemedy?: string | undefined
  readonly servicesOf?: ServicesOf | undefined
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock?: Clock
}

export interface Sources {
  /** @param namespace where Secrets are read @throws FillError InvalidSpec */
  module(origin: ModuleOrigin, namespace: string): ModuleUpstream
  /** @throws FillError InvalidSpec */
  provider(origin: ProviderOrigin, namespace: string): ProviderUpstream
}

/** Sources, and other questions to a registry. */
export interface RegistrySources extends Sources {
  /** Asks a registry. The credential goes to its own host only. @throws FillError */
  ask(question: RegistryQuestion, options: UpstreamOptions & SentToRegistry): Promise<EgressAnswer>
}

/** The part of a request that is not a question. Default: a GET. */
export type SentToRegistry = Pick<
  EgressRequest,
  'method' | 'headers' | 'body' | 'deadlineMs' | 'headersMs'
>

interface RegistryQuestion {
  readonly host: string
  readonly service: RegistryService
  /** Relative to the URL of the service. */
  readonly path: string
  /** Name of the Secret with the credential. */
  readonly secretName: string | undefined
}

export function openSources(options: SourcesOptions): RegistrySources {
  const { egress, spool, secrets, upstreamHosts, metrics, clock = Date.now } = options
  const { githubSecretName = 'depot-github', githubApiUrl = 'https://api.github.com' } = options
  const {
    unsignedRemedy = 'set signature: IfPresent in its config to accept it nevertheless, unless a policy has requireSignature',
  } = options
  const log = options.log.child({ component: 'sources' })
  const upstream = new UpstreamClient(egress, spool, metrics, clock)
  const cache = new ListingCache(options.listingsDir, log, clock)
  const git = new Git(upstream, spool, options.gitCommand)
  const discovery = new ServiceDiscovery(upstream, clock, options.servicesOf)
  const documents = openDocuments(clock)
  const published = new PublishedDates(clock)
  const apps = new GithubApps(upstream, clock)

  const accessFor =
    (name: string | undefined, namespace: string) => async (): Promise<SourceAccess> =>
      name === undefined ? {} : accessOf(await readSecret(secrets, namespace, name), name)

  function githubCredential({ source, githubClientConfig }: ModuleOrigin, namespace: string) {
    const { useAuthenticatedClient, secretName } = githubClientConfig ?? {}
    const named = source?.secretRef?.name ?? secretName
    const name = named ?? (useAuthenticatedClient === true ? githubSecretName : undefined)
    return async (apiUrl: string) =>
      name === undefined
        ? undefined
        : apps.credentialOf(() => readSecret(secrets, namespace, name), name, apiUrl)
  }

  return {
    module(origin, namespace) {
      const place = modulePlace(origin, { upstreamHosts, githubApiUrl })
      const shared = { ...pathsOf(origin), upstream, cache }
      if (place.type === 'github') {
        const credentialOf = githubCredential(origin, namespace)
        const credential = () => credentialOf(place.apiUrl)
        return githubModule({ ...shared, ...place, credential })
      }
      const access = accessFor(origin.source?.secretRef?.name, namespace)
      if (place.type === 'git') return gitModule({ ...shared, access, git, url: place.url })
      if (place.type === 'archive') return archiveModule({ ...shared, access, url: place.url })
      return registryModule({ ...shared, ...place, access, git, discovery, published })
    },
    provider(origin, namespace) {
      const { signature = 'Required', trustedKeys = [] } = origin
      const address = providerAddressOf(origin, upstreamHosts)
      const access = accessFor(origin.secretRef?.name, namespace)
      const shared = { upstream, cache, discovery, published, documents, access, clock }
      return new RegistryProvider({ ...shared, ...address, signature, trustedKeys, unsignedRemedy })
    },
    async ask({ host, service, path, secretName }, asking) {
      const { ca, credential } = await accessFor(secretName, '')()
      const found = await discovery.find(host, service, ca, asking)
      const url = new URL(path, found.service)
      const isOwn = found.isOwn && url.host === new URL(found.service).host
      return upstream.ask(url.href, { ...asking, ca, ...(isOwn && { credential }) })
    },
  }
}

const pathsOf = ({ source }: ModuleOrigin) => ({
  path: source?.path,
  tagPrefix: source?.tagPrefix ?? '',
})

/** Reads the URL of the repository, otherwise owner and name. @throws FillError InvalidSpec */
function githubPlace(origin: ModuleOrigin, publicApiUrl: string): GithubPlace {
  const { repoOwner, name, source, githubClientConfig } = origin
  const text = source?.url ?? origin.repoUrl
  const url = text === undefined ? undefined : new URL(httpsUrl(text))
  const parts = url?.pathname.split('/').filter((part) => part !== '') ?? [repoOwner, name]
  const [owner = '', repository = ''] = parts
  const bare = repository.replace(/\.git$/, '')
  if (parts.length !== 2 || !isName(owner) || !isName(bare)) {
    throw new FillError(
      'InvalidSpec',
      'the repository is not known: set repoUrl to https://github.com/OWNER/NAME, or repoOwner and name',
    )
  }
  const isPublic = url === undefined || /^(www\.)?github\.com$/.test(url.host)
  const api = githubClientConfig?.apiUrl ?? (isPublic ? publicApiUrl : `https://${url.host}/api/v3`)
  return { apiUrl: httpsUrl(api).replace(/\/+$/, ''), owner, repository: bare }
}

const isName = (text: string): boolean => /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/.test(text)

/** @throws FillError InvalidSpec */
function httpsUrl(text: string | undefined): string {
  if (text === undefined) throw new FillError('InvalidSpec', 'source.url is missing')
  const url = URL.parse(text)
  const shown = printable(text.replace(/\/\/[^/@]*@/, '//').replace(/[?#].*$/, ''), 100)
  if (url?.protocol !== 'https:') {
    throw new FillError(
      'InvalidSpec',
      `"${shown}" is not an https URL: only https URLs are fetched`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw new FillError(
      'InvalidSpec',
      `"${shown}" holds credentials: put them into a Secret and name it in secretRef`,
    )
  }
  return url.href
}

/** The place of a module's versions, which its config names. */
type ModulePlace =
  | (GithubPlace & { readonly type: 'github' })
  | { readonly type: 'git'; readonly url: string }
  | { readonly type: 'archive'; readonly url: string }
  | { readonly type: 'registry'; readonly host: string; readonly address: string }

/** @throws FillError InvalidSpec */
export function modulePlace(
  origin: ModuleOrigin,
  { upstreamHosts, githubApiUrl }: { upstreamHosts: readonly string[]; githubApiUrl: string },
): ModulePlace {
  const { type = 'github', url } = origin.source ?? {}
  if (type === 'github') return { type, ...githubPlace(origin, githubApiUrl) }
  if (type === 'git') return { type, url: httpsUrl(url ?? origin.repoUrl) }
  if (type === 'archive') return { type, url: archiveUrl(url) }
  return { type, ...moduleAddressOf(url, upstreamHosts) }
}

function archiveUrl(text: string | undefined): string {
  const url = httpsUrl(text)
  // Parsing the URL has escaped the braces.
  if (text?.includes('{version}') === true) return url.replaceAll('%7Bversion%7D', '{version}')
  throw new FillError(
    'InvalidSpec',
    'source.url of an archive needs {version} in it, such as https://example.com/vpc-{version}.tar.gz',
  )
}

/** @param text `[host/]namespace/name/system` @throws FillError InvalidSpec */
function moduleAddressOf(
  text: string | undefined,
  upstreamHosts: readonly string[],
): { readonly host: string; readonly address: string } {
  const parts = (text ?? '').replace(/^https:\/\//, '').split('/')
  const [host = '', ...address] = parts.length === 3 ? [upstreamHosts[0] ?? '', ...parts] : parts
  if (address.length !== 3 || !address.every(isSegment)) {
    throw new FillError(
      'InvalidSpec',
      'source.url of a registry must be host/namespace/name/system, such as registry.opentofu.org/acme/vpc/aws',
    )
  }
  return { host: knownHost(host, upstreamHosts), address: address.join('/') }
}

/** @throws FillError InvalidSpec */
export function providerAddressOf(
  { name, namespace = 'hashicorp', upstreamHost }: ProviderOrigin,
  upstreamHosts: readonly string[],
): { readonly host: string; readonly namespace: string; readonly providerType: string } {
  if (name === undefined || !isSegment(name) || !isSegment(namespace)) {
    throw new FillError(
      'InvalidSpec',
      `"${printable(`${namespace}/${name ?? ''}`, 100)}" is not the address of a provider, such as hashicorp/aws`,
    )
  }
  return {
    host: knownHost(upstreamHost ?? upstreamHosts[0], upstreamHosts),
    namespace,
    providerType: name,
  }
}

/** Checks a part of an address, between two slashes. */
export const isSegment = (text: string): boolean =>
  /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/.test(text)

function knownHost(host: string | undefined, upstreamHosts: readonly string[]): string {
  if (host !== undefined && upstreamHosts.includes(host)) return host
  throw new FillError(
    'InvalidSpec',
    `the registry "${printable(host ?? '', 80)}" is not among --upstream-hosts: an operator can add it, or use one of ${printable(upstreamHosts.join(', '), 100)}`,
  )
}
