import { once } from 'node:events'
import { cpSync, mkdirSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { tarGzOf, zipOf } from '../../hack/testbed/registry/archives.ts'
import {
  createUpstreamAuthority,
  type UpstreamAuthority,
} from '../../hack/testbed/upstream/https-server.ts'
import { shasumsOf, type UpstreamProvider } from '../../hack/testbed/upstream/registry.ts'
import { startUpstreams, type Upstreams } from '../../hack/testbed/upstream/upstreams.ts'
import type { SourceKind } from './healing-world.fixture.ts'

export const versions = ['1.0.0', '1.1.0', '1.2.0'] as const

/** Hosts of upstreams, each with its own name, and addresses where a connection fails. */
export class HealingUpstreams implements AsyncDisposable {
  readonly #upstreams: Upstreams
  readonly #authority: UpstreamAuthority
  readonly #broken: readonly Server[]
  /** Connections on which nothing is sent. */
  readonly #sockets: ReadonlySet<Socket>
  readonly #providers: readonly UpstreamProvider[]
  #names = 0

  private constructor(
    upstreams: Upstreams,
    authority: UpstreamAuthority,
    broken: readonly Server[],
    sockets: ReadonlySet<Socket>,
    providers: readonly UpstreamProvider[],
  ) {
    this.#upstreams = upstreams
    this.#authority = authority
    this.#broken = broken
    this.#sockets = sockets
    this.#providers = providers
  }

  static async start(): Promise<HealingUpstreams> {
    const made = createUpstreamAuthority()
    const hostnameOf = (name: string) => `${name}.test`
    const authority: UpstreamAuthority = {
      ...made,
      authority: { server: (name) => made.authority.server(name, [hostnameOf(name)]) },
      placeOf: (name) => ({ address: '127.0.0.1', hostname: hostnameOf(name), port: 0 }),
    }
    const upstreams = await startUpstreams(authority)
    const { github, git, registry } = upstreams
    for (const [index, version] of versions.entries()) {
      const path = git.pathOf(`templates/${index}`)
      if (index > 0) cpSync(git.pathOf(`templates/${index - 1}`), path, { recursive: true })
      git.tag(`templates/${index}`, `v${version}`, filesOf(version))
    }
    const stranger = createUpstreamAuthority()
    const { cert, key } = stranger.authority.server('stranger')
    stranger.remove()
    const hosts = [...github.hosts, git.host, registry.host, registry.downloadHost]
    const sockets = new Set<Socket>()
    const broken = hosts.flatMap((host) => {
      const port = Number(host.split(':')[1])
      const silent = createServer((socket) => sockets.add(socket)).listen(port, addresses.silent)
      return [silent, createTlsServer({ cert, key }).listen(port, addresses.stranger)]
    })
    await Promise.all(broken.map((server) => once(server, 'listening')))
    return new HealingUpstreams(upstreams, authority, broken, sockets, await signed(upstreams))
  }

  get github() {
    return this.#upstreams.github
  }

  get git() {
    return this.#upstreams.git
  }

  get registry() {
    return this.#upstreams.registry
  }

  get ca(): string {
    return this.#authority.ca
  }

  get hosts(): string[] {
    const { github, git, registry } = this
    return [...github.hosts, git.host, registry.host, registry.downloadHost]
  }

  get settings() {
    return { upstreamHosts: [this.registry.host], githubApiUrl: this.github.apiUrl }
  }

  closeSilent(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  freshName(): string {
    this.#names += 1
    return `n${this.#names}x`
  }

  async publish(source: SourceKind, name: string, version: string): Promise<void> {
    const { github, git, registry } = this
    if (source === 'github') github.tag(`acme/${name}`, `v${version}`, filesOf(version))
    else if (source === 'git') {
      const path = git.pathOf(`acme/${name}`)
      mkdirSync(dirname(path), { recursive: true })
      const index = versions.findIndex((one) => one === version)
      cpSync(git.pathOf(`templates/${index}`), path, { recursive: true })
    } else if (source === 'provider') {
      const provider = this.#providers.find((one) => one.version === version)
      if (provider !== undefined) registry.addProvider({ ...provider, address: `${name}/tls` })
    } else {
      const archive = await tarGzOf(entriesOf(version))
      registry.addModule({ address: `acme/${name}/aws`, version, archive })
    }
  }

  /** The part of a module's config that names its source. */
  sourceOf(source: SourceKind, name: string): object {
    if (source === 'github') return { repoOwner: 'acme' }
    if (source === 'git') return { source: { type: 'git', url: this.git.urlOf(`acme/${name}`) } }
    const { host, downloadHost } = this.registry
    if (source === 'registry') {
      return { source: { type: 'registry', url: `${host}/acme/${name}/aws` } }
    }
    const url = `https://${downloadHost}/modules/acme-${name}-aws-{version}.tar.gz`
    return { source: { type: 'archive', url } }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#broken) server.close()
    await this.#upstreams[Symbol.asyncDispose]()
  }
}

/** Addresses of this machine where upstreams are unreachable. */
export const addresses = {
  /** Nothing listens. */
  closed: '127.0.0.2',
  /** Accepts connections, and sends nothing. */
  silent: '127.0.0.3',
  /** The certificate is from an unknown authority. */
  stranger: '127.0.0.4',
}

const filesOf = (version: string) => ({
  'main.tf': `# ${version}\nlocals {}\n`,
  'README.md': `${version} `.repeat(200),
})

const entriesOf = (version: string) =>
  Object.entries(filesOf(version)).map(([path, text]) => ({ path, content: Buffer.from(text) }))

/** Providers of all versions, signed once. */
async function signed({ key }: Upstreams): Promise<UpstreamProvider[]> {
  const { fingerprint, armored } = key
  const all: UpstreamProvider[] = []
  for (const version of versions) {
    const path = `terraform-provider-tls_v${version}`
    const content = Buffer.from(`${version} `.repeat(500))
    const archive = await zipOf([{ path, content, executable: true }])
    const platforms = { linux_amd64: archive }
    const shasums = shasumsOf({ address: 'acme/tls', version, platforms })
    const signature = key.sign(shasums)
    const known = { fingerprint, armored, sign: () => signature }
    all.push({ address: 'acme/tls', version, platforms, key: known })
  }
  return all
}
