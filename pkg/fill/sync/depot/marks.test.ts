import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { zipOf } from '../../../../hack/testbed/registry/archives.ts'
import {
  createUpstreamAuthority,
  type UpstreamAuthority,
} from '../../../../hack/testbed/upstream/https-server.ts'
import { UpstreamRegistry } from '../../../../hack/testbed/upstream/registry.ts'
import { type LocalSources, localSources } from '../../sources/sources.fixture.ts'
import { FillError } from '../../sources/sources.ts'
import { contentOfRelease, markOfModule } from './marks.ts'

let authority: UpstreamAuthority
let registry: UpstreamRegistry
let local: LocalSources
const { signal } = new AbortController()
const zip = (text: string) =>
  zipOf([{ path: 'terraform-provider-dns_v1', content: Buffer.from(text), executable: true }])

beforeAll(async () => {
  authority = createUpstreamAuthority()
  registry = await UpstreamRegistry.start(authority)
  local = await localSources(authority, [registry.host, registry.downloadHost])
}, 60_000)
afterAll(async () => {
  await local.close()
  await registry.close()
  authority.remove()
})

it('asks a registry once for the checksums of all platforms, and changes with each archive', async () => {
  const dns = local.sources.provider({ name: 'dns', namespace: 'acme' }, 'team')
  const offer = async (linux: string) =>
    registry.addProvider({
      address: 'acme/dns',
      version: '1.0.0',
      platforms: { linux_amd64: await zip(linux), darwin_arm64: await zip('darwin') },
    })
  const content = async () => {
    const { versions } = await dns.list({ signal })
    registry.asked.length = 0
    const [one = { version: '', platforms: [] }] = versions
    return contentOfRelease(dns, one, { signal, urgent: true })
  }
  await offer('first')
  const first = await content()
  expect(first.sums).toHaveLength(2)
  expect(registry.asked.filter((url) => url.includes('/download/'))).toHaveLength(1)
  expect((await content()).mark).toBe(first.mark)
  await offer('stolen')
  expect((await content()).mark).not.toBe(first.mark)
  await offer('first')
  expect((await content()).mark).toBe(first.mark)
})

it('asks for each platform whose checksums have a document of their own', async () => {
  const platforms = ['amd64', 'arm64'].map((arch) => ({ os: 'linux', arch }))
  const digests = new Map([
    ['amd64', 'a'.repeat(64)],
    ['arm64', 'b'.repeat(64)],
  ])
  const upstream = {
    address: 'registry.test/acme/dns',
    sums: (version: string, { os, arch }: { os: string; arch: string }) =>
      Promise.resolve(
        new Map([[`terraform-provider-dns_${version}_${os}_${arch}.zip`, digests.get(arch) ?? '']]),
      ),
  }
  const content = () => contentOfRelease(upstream, { version: '1.0.0', platforms }, { signal })
  const first = await content()
  expect(first.sums).toEqual([...digests.values()])
  digests.set('arm64', 'c'.repeat(64))
  expect((await content()).mark).not.toBe(first.mark)
})

it.each([
  ['UpstreamNotFound', ['darwin', 'linux'], [2, 2]],
  ['UpstreamNotFound', ['linux', 'darwin'], [2, 1]],
  ['RateLimited', ['darwin', 'linux'], ['RateLimited', 1]],
  ['UpstreamNotFound', ['darwin', 'linux', 'plan9'], [2, 3]],
  ['UpstreamNotFound', ['darwin', 'plan9'], ['UpstreamNotFound', 2]],
  ['FetchFailed', ['darwin', 'linux', 'plan9'], ['FetchFailed', 3]],
] as const)(
  'has all checksums if others name those of a platform without an answer: %s, %j, %j',
  async (reason, systems, expected) => {
    const file = (os: string) => `terraform-provider-dns_1.0.0_${os}_amd64.zip`
    let asks = 0
    const upstream = {
      address: 'registry.test/acme/dns',
      sums: async (_: string, { os }: { os: string }) => {
        asks += 1
        if (os !== 'linux') throw new FillError(reason, 'no package')
        return new Map(['linux', 'darwin'].map((one) => [file(one), hash('sha256', one)]))
      },
    }
    const platforms = systems.map((os) => ({ os, arch: 'amd64' }))
    const content = contentOfRelease(upstream, { version: '1.0.0', platforms }, { signal })
    const found = await content.then(
      ({ sums }) => sums.length,
      (error: unknown) => (error as FillError).reason,
    )
    expect([found, asks]).toEqual(expected)
  },
)

it('names a platform without an archive, until upstream has one', async () => {
  const hashes = new Map([['terraform-provider-dns_1.0.0_linux_amd64.zip', 'a'.repeat(64)]])
  let reason: 'UpstreamNotFound' | 'FetchFailed' | undefined = 'UpstreamNotFound'
  const upstream = {
    address: 'registry.test/acme/dns',
    sums: (_: string, { os }: { os: string }) =>
      os === 'plan9' && reason !== undefined
        ? Promise.reject(new FillError(reason, 'no package'))
        : Promise.resolve(hashes),
  }
  const platforms = ['linux', 'plan9'].map((os) => ({ os, arch: 'amd64' }))
  const content = (of = platforms) =>
    contentOfRelease(upstream, { version: '1.0.0', platforms: of }, { signal })
  const { mark } = await content()
  expect((await content(platforms.toReversed())).mark).toBe(mark)
  expect((await content(platforms.slice(0, 1))).mark).not.toBe(mark)
  reason = 'FetchFailed'
  await expect(content()).rejects.toMatchObject({ message: 'plan9_amd64: no package' })
  reason = undefined
  hashes.set('terraform-provider-dns_1.0.0_plan9_amd64.zip', 'b'.repeat(64))
  expect((await content()).mark).not.toBe(mark)
})

it('has no name for a release without archives', async () => {
  const dns = local.sources.provider({ name: 'dns', namespace: 'acme' }, 'team')
  expect(await contentOfRelease(dns, { version: '9.0.0', platforms: [] }, { signal })).toEqual({
    sums: [],
    mark: undefined,
  })
})

it.each([
  [`1.0.0@sha1:${'a'.repeat(40)}`, 'a'.repeat(40)],
  ['1.0.0@mark:0123456789abcdef', undefined],
])('a module with the revision %s is named %s', (revision, mark) => {
  expect(markOfModule(revision)).toBe(mark)
})
