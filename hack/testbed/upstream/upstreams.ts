import { hash } from 'node:crypto'
import { zipOf } from '../../../pkg/archives/archive/packed.fixture.ts'
import { GitServer } from './git.ts'
import { GithubServer } from './github.ts'
import { createUpstreamAuthority } from './https-server.ts'
import { UpstreamRegistry } from './registry.ts'
import { openSigningKeys, type UpstreamKey } from './signing-keys.ts'

/** Upstreams that fill a registry: repositories and a signed registry, on free ports of this machine. */
export interface Upstreams extends AsyncDisposable {
  readonly github: GithubServer
  readonly git: GitServer
  readonly registry: UpstreamRegistry
  readonly key: UpstreamKey
  readonly caFile: string
  /** By which `depot controller` and `depot sync` reach them. */
  readonly flags: readonly string[]
  /** Offers one more version of a provider, for two platforms. */
  provider(address: string, version: string): Promise<void>
}

export async function startUpstreams(authority = createUpstreamAuthority()): Promise<Upstreams> {
  const keys = openSigningKeys()
  const key = keys.create('Upstream')
  const [github, git, registry] = await Promise.all([
    GithubServer.start(authority),
    GitServer.start(authority),
    UpstreamRegistry.start(authority),
  ])
  return {
    github,
    git,
    registry,
    key,
    caFile: authority.caFile,
    flags: [
      `--github-api-url=${github.apiUrl}`,
      `--source-hosts=${[...github.hosts, git.host].join(',')}`,
      `--upstream-hosts=${registry.host}`,
      `--egress-allow=${registry.downloadHost}`,
      '--egress-private-cidrs=127.0.0.0/8,::1/128',
      `--egress-ca-path=${authority.caFile}`,
    ],
    async provider(address, version) {
      const type = address.split('/')[1] ?? ''
      const archiveOf = (platform: string) =>
        zipOf([
          {
            path: `terraform-provider-${type}_v${version}`,
            content: `${platform} ${hash('sha256', version)}`,
            mode: 0o755,
          },
        ])
      const platforms = {
        linux_amd64: await archiveOf('linux_amd64'),
        darwin_arm64: await archiveOf('darwin_arm64'),
      }
      registry.addProvider({ address, version, platforms, key })
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([github.close(), git.close(), registry.close()])
      keys.close()
      authority.remove()
    },
  }
}
