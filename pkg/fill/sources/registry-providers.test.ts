import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { zipOf } from '../../../hack/testbed/registry/archives.ts'
import {
  createUpstreamAuthority,
  type UpstreamAuthority,
} from '../../../hack/testbed/upstream/https-server.ts'
import { UpstreamRegistry } from '../../../hack/testbed/upstream/registry.ts'
import {
  openSigningKeys,
  type SigningKeys,
  type UpstreamKey,
} from '../../../hack/testbed/upstream/signing-keys.ts'
import { GnuPG } from '../../archives/signing/gnupg.fixture.ts'
import { conventionalRepository } from './registry-providers.ts'
import { fetching, type LocalSources, localSources } from './sources.fixture.ts'
import type { ProviderOrigin } from './sources.ts'

let authority: UpstreamAuthority
let registry: UpstreamRegistry
let keys: SigningKeys
let good: UpstreamKey
let other: UpstreamKey
let local: LocalSources
let platforms: Record<string, Buffer>
const { signal } = new AbortController()
const linux = { os: 'linux', arch: 'amd64' }

const zip = (text: string) =>
  zipOf([{ path: 'terraform-provider-dns_v1', content: Buffer.from(text), executable: true }])
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

describe.runIf(GnuPG.wanted)('a provider of an upstream registry', () => {
  beforeAll(async () => {
    authority = createUpstreamAuthority()
    registry = await UpstreamRegistry.start(authority)
    keys = openSigningKeys()
    good = keys.create('good')
    other = keys.create('other')
    platforms = { linux_amd64: await zip('linux'), darwin_arm64: await zip('darwin') }
  }, 60_000)
  beforeEach(async () => {
    local = await localSources(authority, [registry.host, registry.downloadHost])
  })
  afterEach(async () => {
    registry.faults.clear()
    registry.token = undefined
    registry.hasProviderVersions = false
    await local.close()
  })
  afterAll(async () => {
    await registry.close()
    keys.close()
    authority.remove()
  })

  const dns = (origin: Partial<ProviderOrigin> = {}) =>
    local.sources.provider({ name: 'dns', namespace: 'acme', ...origin }, 'team')
  const offer = (version: string, more: object = {}) =>
    registry.addProvider({ address: 'acme/dns', version, platforms, key: good, ...more })
  const release = (version: string, origin: Partial<ProviderOrigin> = {}) =>
    dns(origin).release(version, linux, { signal })

  it('is listed only with the token, also right after a request with the token', async () => {
    offer('1.0.0')
    registry.token = 'secret'
    local.secrets.set('team/registry', { token: Buffer.from('secret') })
    const secretRef = { name: 'registry' }
    expect((await dns({ secretRef }).list({ signal })).versions).not.toEqual([])
    const maxAgeMs = Number.POSITIVE_INFINITY
    const denied = { reason: 'AccessDenied' }
    await expect(dns().list({ signal, maxAgeMs })).rejects.toMatchObject(denied)
  })

  it('is listed with protocols and platforms, then requested with the ETag', async () => {
    offer('1.0.0', { protocols: ['5.0', '6.0'] })
    const { versions } = await dns().list({ signal })
    expect(versions).toEqual([
      {
        version: '1.0.0',
        protocols: ['5.0', '6.0'],
        platforms: [linux, { os: 'darwin', arch: 'arm64' }],
      },
    ])
    expect((await dns().list({ signal })).unchanged).toBe(true)
  })

  it.each([
    ['one by one', false, 2],
    ['with one request', true, 0],
  ])('has the dates of versions, asked for %s', async (_, hasProviderVersions, requests) => {
    registry.hasProviderVersions = hasProviderVersions
    const name = `dated${requests}`
    const dates = ['2026-11-20T10:00:00Z', '2026-11-21T10:00:00Z']
    for (const [minor, publishedAt] of dates.entries()) {
      offer(`1.${minor}.0`, { address: `acme/${name}`, publishedAt })
    }
    const listed = async (datesOf?: (version: string) => boolean) =>
      (await dns({ name }).list({ signal, datesOf })).versions.map((one) => one.publishedAt)
    expect(await listed(() => true)).toEqual(dates)
    const asked = registry.asked.filter((url) => url.includes(`/${name}`))
    expect(asked.filter((url) => /\/1\.\d\.0$/.test(url))).toHaveLength(requests)
    expect(await listed(() => false)).toEqual([undefined, undefined])
    expect(registry.asked.filter((url) => url.includes(`/${name}`))).toHaveLength(asked.length + 1)
  })

  it('has checksums that show new bytes under an old version', async () => {
    offer('4.0.0')
    const sums = () => dns().sums('v4.0.0', linux, { signal, urgent: true })
    const name = 'terraform-provider-dns_4.0.0_darwin_arm64.zip'
    expect((await sums()).get(name)).toBe(sha256(platforms['darwin_arm64'] ?? Buffer.alloc(0)))
    const darwin = await zip('built again')
    offer('4.0.0', { platforms: { ...platforms, darwin_arm64: darwin } })
    expect((await sums()).get(name)).toBe(sha256(darwin))
  })

  describe('its source repository', () => {
    const source = () => dns().sourceRepository({ signal })

    it('is the one that the registry names', async () => {
      offer('1.0.0', { source: 'https://github.com/acme/terraform-provider-dns' })
      expect(await source()).toBe('https://github.com/acme/terraform-provider-dns')
    })

    it.each(['javascript:alert(1)', 'https://name:secret@github.com/acme/dns', 'not a URL'])(
      'is unknown if the registry names %s',
      async (named) => {
        offer('1.0.0', { source: named })
        expect(await source()).toBeUndefined()
      },
    )

    it('is unknown if another registry than the public ones does not have such an answer', async () => {
      const address = { namespace: 'acme', providerType: 'dns' }
      expect(await dns({ name: 'none' }).sourceRepository({ signal })).toBeUndefined()
      const opentofu = { host: 'registry.opentofu.org', ...address }
      const convention = 'https://github.com/acme/terraform-provider-dns'
      expect(conventionalRepository(opentofu)).toBe(convention)
      expect(conventionalRepository({ host: registry.host, ...address })).toBeUndefined()
    })

    it('fails if the registry does', async () => {
      offer('1.0.0')
      registry.faults.on(/\/dns$/, 'html')
      await expect(source()).rejects.toMatchObject({ reason: 'FetchFailed' })
    })
  })

  it('is released with verified documents, and the hashes of all platforms', async () => {
    offer('1.0.0')
    const found = await release('v1.0.0')
    expect(found).toMatchObject({
      version: '1.0.0',
      fileName: 'terraform-provider-dns_1.0.0_linux_amd64.zip',
      signatureState: 'Verified',
      signer: { fingerprint: good.fingerprint, keyId: good.fingerprint.slice(-16), trusted: false },
      key: good.armored,
    })
    expect(Object.fromEntries(found.hashes)).toEqual({
      linux_amd64: `zh:${sha256(platforms['linux_amd64'] ?? Buffer.alloc(0))}`,
      darwin_arm64: `zh:${sha256(platforms['darwin_arm64'] ?? Buffer.alloc(0))}`,
    })
    const said = keys.gpg.verify(found.shasums.toString(), found.signature ?? Buffer.alloc(0))
    expect(said).toContain('GOODSIG')
    const { file, fileName } = await dns().fetch(found, fetching)
    expect(readFileSync(file.path).equals(platforms['linux_amd64'] ?? Buffer.alloc(0))).toBe(true)
    expect(fileName).toBe(found.fileName)
    await file.remove()
  })

  it('has its documents fetched once for all platforms', async () => {
    offer('1.1.0')
    await release('1.1.0')
    await dns().release('1.1.0', { os: 'darwin', arch: 'arm64' }, { signal })
    const documents = registry.asked.filter((url) => url.includes('1.1.0_SHA256SUMS'))
    expect(documents.length).toBe(2)
  })

  it('may have an armored signature, which becomes a binary one', async () => {
    offer('2.0.0', { sign: (sums: string) => good.sign(sums, ['--armor']) })
    const { signature = Buffer.alloc(0), shasums } = await release('2.0.0')
    expect(signature.toString('latin1')).not.toContain('BEGIN PGP')
    expect(keys.gpg.verify(shasums.toString(), signature)).toContain('GOODSIG')
  })

  it.each([
    ['by another key', () => ({ sign: (sums: string) => other.sign(sums) }), 'none of the keys'],
    [
      'with SHA-1',
      () => ({ sign: (sums: string) => good.sign(sums, ['--digest-algo', 'SHA1']) }),
      'SHA-1',
    ],
    ['of another text', () => ({ sign: () => good.sign('other') }), 'refused'],
    ['that is not one', () => ({ sign: () => Buffer.from('<html>') }), 'cannot be read'],
    ['that is empty', () => ({ sign: () => Buffer.alloc(0) }), 'refused'],
  ])('is refused with a signature %s', async (what, more, message) => {
    const version = `3.0.0-${what.replaceAll(/\W/g, '')}`
    offer(version, more())
    await expect(release(version)).rejects.toMatchObject({
      reason: 'SignatureInvalid',
      terminal: true,
      message: expect.stringContaining(message),
    })
  })

  it('is accepted if its key expired after it was signed, and refused if before', async () => {
    const at = (day: string) => ['--faked-system-time', `202001${day}T000000!`]
    const key = keys.create('expired', at('01'))
    const early = (sums: string) => key.sign(sums, at('02'))
    const late = (sums: string) => key.sign(sums, at('10'))
    offer('4.0.0', { key, sign: early })
    offer('4.1.0', { key, sign: late })
    const loopback = ['--pinentry-mode', 'loopback', '--passphrase', '']
    const expire = ['--quick-set-expire', key.fingerprint, '2020-01-06']
    keys.gpg.run([...loopback, ...at('03'), ...expire])
    expect((await release('4.0.0')).signatureState).toBe('Verified')
    await expect(release('4.1.0')).rejects.toThrow(/had expired .* without Depot/)
  })

  it('is refused without a signature, unless the config allows it', async () => {
    offer('5.0.0', { key: undefined })
    await expect(release('5.0.0')).rejects.toMatchObject({
      reason: 'Unsigned',
      terminal: true,
      message: expect.stringContaining('set signature: IfPresent in its config'),
    })
    const taken = await release('5.0.0', { signature: 'IfPresent' })
    expect([taken.signatureState, taken.signer]).toEqual(['Unsigned', undefined])
  })

  it('must be signed by a trusted key if there are any', async () => {
    offer('6.0.0')
    const spaced = good.fingerprint.toLowerCase().replaceAll(/(....)/g, '$1 ')
    for (const trusted of [good.fingerprint, spaced, `0x${good.fingerprint}`, good.armored]) {
      const { signer } = await release('6.0.0', { trustedKeys: [other.fingerprint, trusted] })
      expect(signer?.trusted).toBe(true)
    }
    await expect(release('6.0.0', { trustedKeys: [other.armored] })).rejects.toMatchObject({
      reason: 'SigningKeyChanged',
      message: expect.stringContaining(good.fingerprint),
    })
    await expect(release('6.0.0', { trustedKeys: ['ABCDEF12'] })).rejects.toMatchObject({
      reason: 'InvalidSpec',
    })
  })

  it('is verified with a trusted key that the upstream does not offer', async () => {
    offer('6.1.0', { key: undefined, sign: (sums: string) => good.sign(sums) })
    const { signer } = await release('6.1.0', { trustedKeys: [good.armored] })
    expect(signer?.trusted).toBe(true)
  })

  it('is refused if archive, package answer and list of checksums do not agree', async () => {
    offer('7.0.0')
    const found = await release('7.0.0')
    registry.faults.on(/7\.0\.0_linux_amd64\.zip/, 'altered')
    await expect(dns().fetch(found, fetching)).rejects.toMatchObject({
      reason: 'ChecksumMismatch',
      terminal: true,
    })
    expect(local.spool.reservedBytes).toBe(0)
    registry.faults.on(/7\.0\.1_SHA256SUMS$/, 'altered')
    offer('7.0.1')
    await expect(release('7.0.1')).rejects.toThrow(/do not agree|refused/)
  })

  it.each([
    [/versions/, 'limited', 'RateLimited'],
    [/versions/, 'error', 'FetchFailed'],
    [/versions/, 'cut', 'FetchFailed'],
    [/versions/, 'html', 'FetchFailed'],
    [/terraform\.json/, 'html', 'FetchFailed'],
  ] as const)('says of %s with %s: %s', async (path, fault, reason) => {
    offer('1.0.0')
    registry.faults.on(path, fault)
    await expect(dns().list({ signal })).rejects.toMatchObject({ reason })
  })

  it.each(['cut', 'error', 'html'] as const)(
    'leaves nothing behind when an archive is %s',
    async (fault) => {
      offer('8.0.0')
      const found = await release('8.0.0')
      registry.faults.on(/8\.0\.0_linux_amd64\.zip/, fault)
      await expect(dns().fetch(found, fetching)).rejects.toMatchObject({ reason: 'FetchFailed' })
      expect(local.spool.reservedBytes).toBe(0)
    },
  )

  it('is still found while service discovery fails', async () => {
    let nowMs = Date.now()
    const clocked = await localSources(authority, [registry.host, registry.downloadHost], {
      clock: () => nowMs,
    })
    offer('1.0.0')
    const provider = clocked.sources.provider({ name: 'dns', namespace: 'acme' }, 'team')
    await provider.list({ signal })
    registry.faults.on(/terraform\.json/, 'error')
    nowMs += 2 * 3_600_000
    expect((await provider.list({ signal })).versions.length).toBeGreaterThan(0)
    await clocked.close()
  })

  it.each([
    { name: undefined },
    { name: '../x' },
    { namespace: 'a/b' },
    { upstreamHost: 'registry.example.com' },
  ])('is refused as %j', (origin) => {
    expect(() => dns(origin)).toThrow(expect.objectContaining({ reason: 'InvalidSpec' }))
  })

  it('is refused for an invalid platform or version', async () => {
    const odd = { os: '../..', arch: 'x' }
    await expect(dns().release('1.0.0', odd, { signal })).rejects.toMatchObject({
      reason: 'InvalidSpec',
    })
    await expect(release('../1')).rejects.toMatchObject({ reason: 'InvalidSpec' })
    offer('1.0.0')
    await expect(
      dns().release('1.0.0', { os: 'plan9', arch: '386' }, { signal }),
    ).rejects.toMatchObject({
      reason: 'UpstreamNotFound',
    })
  })
})
