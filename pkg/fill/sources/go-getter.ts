import { FillError } from './errors.ts'

/** A module address in Terraform's syntax, of the kinds that Depot fetches. */
export type ModuleAddress = {
  /** URL of the repository or archive; https, unless it is at the registry itself. */
  readonly url: string
  /** A folder in it. */
  readonly path: string | undefined
} & (
  | { readonly kind: 'git'; readonly ref: string | undefined }
  | { readonly kind: 'archive'; readonly sha256: string | undefined }
)

/**
 * Reads the module address that a registry returns: `https://…/x.tar.gz//folder?archive=tar.gz` or
 * `git::https://…//folder?ref=…`, also relative to `base`.
 *
 * @throws FillError FetchFailed for any other kind
 * @see https://developer.hashicorp.com/terraform/language/modules/sources
 */
export function moduleAddress(text: string, base: string): ModuleAddress {
  const [, forced, rest = text] = /^([A-Za-z0-9]+)::(.*)$/.exec(text) ?? []
  if (forced !== undefined && forced !== 'git' && forced !== 'https') {
    throw unusable(`of the kind "${forced}"`)
  }
  const url = URL.parse(forced === undefined ? absolute(rest) : rest, base)
  // A registry that a person has configured without TLS also names its own archives so.
  if (url?.protocol !== 'https:' && url?.origin !== new URL(base).origin)
    throw unusable('that is not https')
  if (url.username !== '' || url.password !== '') throw unusable('with credentials in it')
  const [, place = url.pathname, path = ''] = /^(.*?[^/])\/\/(.*)$/s.exec(url.pathname) ?? []
  const inner = decoded(path)
  const query = url.searchParams
  url.pathname = place
  url.hash = ''
  if (forced === 'git' || isGithub(text)) {
    const ref = query.get('ref') ?? undefined
    url.search = ''
    return { kind: 'git', url: url.href, path: inner, ref }
  }
  if (place.endsWith('.git')) throw unusable('of a git repository without git::')
  const sha256 = checksumIn(query.get('checksum'))
  for (const key of ['archive', 'checksum', 'filename']) query.delete(key)
  return { kind: 'archive', url: url.href, path: inner, sha256 }
}

const isGithub = (text: string): boolean => text.startsWith('github.com/')

/** The CLIs know two hosts without a scheme, and `user@host:path`; any other text without a scheme is relative. */
function absolute(text: string): string {
  if (isGithub(text)) {
    const [, repository = '', rest = ''] =
      /^(github\.com\/[^/?]+\/[^/?]+?)(?:\.git)?((?:\/|\?).*)?$/.exec(text) ?? []
    if (repository === '') throw unusable('on github.com without owner and repository')
    // A third part is a folder even without two slashes.
    return `https://${repository}.git${rest.replace(/^\/(?=[^/])/, '//')}`
  }
  if (text.startsWith('bitbucket.org/')) throw unusable('on bitbucket.org')
  if (/^[^/:?@]+@[^/:?]+:/.test(text)) throw unusable('that is read over ssh')
  return text
}

/** A leading `*` means the one folder that wraps everything, which Depot strips anyway. */
function decoded(path: string): string | undefined {
  let text: string
  try {
    text = decodeURIComponent(path)
  } catch {
    throw unusable('whose folder cannot be read')
  }
  const inner = text.replace(/^\*(?:\/|$)/, '').replace(/(?<!\/)\/+$/, '')
  return inner === '' ? undefined : inner
}

function checksumIn(text: string | null): string | undefined {
  if (text === null) return undefined
  const [, sha256] = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(text) ?? []
  if (sha256 === undefined) throw unusable('with a checksum other than SHA-256')
  return sha256.toLowerCase()
}

function unusable(why: string): FillError {
  return new FillError(
    'FetchFailed',
    `the registry names a module source ${why}; only https archives and git::https are fetched`,
  )
}
