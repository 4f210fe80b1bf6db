import { printable } from '../../base/errors/errors.ts'
import { FillError } from './errors.ts'
import type { ModuleOrigin, ProviderOrigin } from './types.ts'

export interface GithubPlace {
  /** Without a slash at the end. */
  readonly apiUrl: string
  readonly owner: string
  readonly repository: string
}

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
export type ModulePlace =
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
