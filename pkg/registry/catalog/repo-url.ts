import type { Module, Provider } from '../../api/v1alpha1/v1alpha1.ts'

/** The URL of the source repository. One that a person wrote takes precedence over one that Depot found. */
export function repoUrlOf(resource: Module | Provider): string | undefined {
  if (resource.kind === 'Provider') {
    const { spec, status } = resource
    return spec.providerConfig.sourceRepository ?? (status?.resolvedSourceRepository || undefined)
  }
  const { metadata, spec } = resource
  const { name = metadata.name, repoUrl, repoOwner, source } = spec.moduleConfig
  if (repoUrl !== undefined) return repoUrl
  if (source?.url !== undefined) {
    return source.type === 'github' || source.type === 'git' ? webPageOf(source.url) : undefined
  }
  if (repoOwner === undefined) return undefined
  const { apiUrl = 'https://api.github.com' } = spec.moduleConfig.githubClientConfig ?? {}
  const host = URL.parse(apiUrl)?.host.replace(/^api\./, '')
  return host && `https://${host}/${encodeURIComponent(repoOwner)}/${encodeURIComponent(name)}`
}

/** The page of a repository. The URL for git may be of the form `ssh://git@host/path.git` or `git@host:path.git`. */
function webPageOf(text: string): string | undefined {
  const [, host, path] = /^[\w.-]+@([\w.-]+):(?!\/\/)(.+)$/.exec(text) ?? []
  const url = URL.parse(host === undefined ? text : `ssh://${host}/${path ?? ''}`)
  if (url === null || !/^(?:https?|ssh):$/.test(url.protocol)) return undefined
  const isWeb = url.protocol !== 'ssh:'
  const page = url.pathname.replace(/\/+$/, '').replace(/\.git$/, '')
  return `${isWeb ? url.protocol : 'https:'}//${isWeb ? url.host : url.hostname}${page}`
}
