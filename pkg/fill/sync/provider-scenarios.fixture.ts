import { describe, expect, it, vi } from 'vitest'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { FillError } from '../sources/sources.ts'
import { eventually, storageConfig, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const first = 'A'.repeat(40)
const second = 'B'.repeat(40)
const platforms = ['linux/amd64', 'darwin/arm64', 'windows/amd64']
const provider = 'acme/hello'

export function providerScenarios(scene: () => Scene): void {
  describe('providers', () => {
    const write = (config: object, ...wanted: string[]) =>
      scene().write('Provider', 'hello', {
        providerConfig: { namespace: 'acme', storageConfig, ...config },
        versions: versions(...wanted),
      })

    it('a version has a Version for each platform, with the documents and the hashes of all', async () => {
      scene().upstream.provider(provider, { '1.0.0': { platforms, signer: first } })
      await write({ operatingSystems: ['linux', 'darwin', 'plan9'] }, '1.0.0')
      await scene().run()
      expect(scene().names('Version')).toEqual([
        'hello-1-0-0-darwin-arm64',
        'hello-1-0-0-linux-amd64',
      ])
      const status = scene().status('Version', 'hello-1-0-0-linux-amd64')
      expect(status.artifact?.hashes?.filter((hash) => hash.startsWith('zh:'))).toHaveLength(3)
      expect(status.artifact?.hashes?.filter((hash) => hash.startsWith('h1:'))).toHaveLength(1)
      expect(status.release?.keyFingerprint).toBe(first)
      expect(scene().condition('Version', 'hello-1-0-0-linux-amd64', 'Verified')).toMatchObject({
        status: 'True',
        reason: 'SignatureVerified',
      })
      expect(scene().status('Provider', 'hello')).toMatchObject({
        synced: true,
        latestVersion: '1.0.0',
        signingKey: first,
        skipped: [{ version: '1.0.0', platform: 'plan9/*' }],
      })
      // Two archives, and three documents that both share.
      expect(await scene().stored()).toHaveLength(5)
      const spec = scene().object('Version', 'hello-1-0-0-linux-amd64').spec
      expect(spec).toMatchObject({ protocols: ['5.0', '6.0'] })
    })

    describe('the source repository', () => {
      const repository = 'https://github.com/acme/terraform-provider-hello'
      const linux = { platforms: ['linux/amd64'], signer: first }
      const found = () => scene().status('Provider', 'hello').resolvedSourceRepository
      const lookups = () => scene().upstream.asked.filter((what) => what.startsWith('source'))
      const depot = (config: object = {}) =>
        scene().write('Depot', 'main', {
          global: { storageConfig },
          providerConfigs: [{ name: 'hello', namespace: 'acme', ...config }],
          pollingIntervalMinutes: 5,
        })
      const poll = async () => {
        scene().aheadMs += 10 * 60_000
        scene().upstream.asked.length = 0
        await scene().run()
      }

      it('is looked up once, and again if the provider comes from elsewhere', async () => {
        scene().upstream.provider(provider, { '1.0.0': linux })
        scene().upstream.sources.set(provider, repository)
        await depot()
        await scene().run()
        expect(found()).toBe(repository)
        expect(lookups()).toEqual([`source ${provider}`])
        await poll()
        expect(lookups()).toEqual([])
        expect(scene().status('Provider', 'hello').upstreamAddress).toBe('registry.test/acme/hello')
        scene().upstream.sources.delete(provider)
        await depot({ upstreamHost: 'mirror.test' })
        await poll()
        expect(lookups()).toEqual([`source ${provider}`])
        expect(found()).toBe('')
        await poll()
        expect(lookups()).toEqual([])
        expect(scene().status('Provider', 'hello').upstreamAddress).toBe('mirror.test/acme/hello')
      })

      it('is not looked up if the config names it', async () => {
        scene().upstream.provider(provider, { '1.0.0': linux })
        await depot({ sourceRepository: 'https://git.test/hello' })
        await scene().run()
        expect(lookups()).toEqual([])
        expect(found()).toBeUndefined()
      })

      it('stays unknown if the lookup fails, which is logged once and prevents nothing', async () => {
        scene().upstream.provider(provider, { '1.0.0': linux })
        const failure = new FillError('FetchFailed', 'registry.test is out of order')
        scene().upstream.faults.set(`source ${provider}`, failure)
        await depot()
        const lines: string[] = []
        const log = createLogger('warn', { write: (line) => lines.push(line) })
        const sync = await scene().begin({ log })
        await sync.idle()
        expect(scene().status('Provider', 'hello').synced).toBe(true)
        const provides = { kind: 'Provider', namespace: scene().namespace, name: 'hello' } as const
        await scene().objects.patch(provides, { metadata: { labels: { changed: 'yes' } } })
        await sync.idle()
        expect(lookups()).toHaveLength(1)
        expect(lines).toEqual([expect.stringContaining('registry.test is out of order')])
        scene().upstream.faults.clear()
        scene().upstream.sources.set(provider, repository)
        await scene().run()
        expect(found()).toBe(repository)
      })
    })

    it('fetches nothing again from another registry that has the same digests', async () => {
      scene().upstream.provider(provider, { '1.0.0': { platforms, signer: first } })
      await write({}, '1.0.0')
      await scene().run()
      scene().upstream.asked.length = 0
      await write({ upstreamHost: 'mirror.test' }, '1.0.0')
      await scene().run()
      expect(scene().upstream.asked.filter((what) => what.startsWith('fetch'))).toEqual([])
      expect(scene().status('Provider', 'hello')).toMatchObject({ synced: true })
      scene().upstream.asked.length = 0
      await scene().run()
      const asked = scene().upstream.asked.filter((what) => /^(release|fetch)/.test(what))
      expect(asked).toEqual([])
    })

    it('keeps platforms and versions that vanish upstream, and marks them until they are back', async () => {
      const both = { platforms: ['linux/amd64', 'darwin/arm64'], signer: first }
      scene().upstream.provider(provider, { '1.0.0': both, '1.1.0': both })
      await write({}, '1.0.0', '1.1.0')
      await scene().run()
      const names = scene().names('Version')
      expect(names).toHaveLength(4)
      const marks = () => names.map((name) => scene().status('Version', name).upstream)
      const poll = async () => {
        scene().aheadMs += 25 * 60 * 60_000
        await scene().run()
      }
      scene().upstream.provider(provider, { '1.1.0': { ...both, platforms: ['linux/amd64'] } })
      await poll()
      expect(scene().names('Version')).toEqual(names)
      expect(marks()).toEqual(['Gone', 'Gone', 'Gone', undefined])
      expect(scene().condition('Provider', 'hello', 'Ready')).toMatchObject({ status: 'True' })
      expect(scene().failing()).toEqual([])
      scene().upstream.provider(provider, { '1.0.0': both, '1.1.0': both })
      await poll()
      expect(marks()).toEqual([undefined, undefined, undefined, undefined])
    })

    it('other bytes under a published version are found at each poll, and the stored ones stay', async () => {
      const linux = { platforms: ['linux/amd64'], signer: first }
      const offer = (text: string) =>
        scene().upstream.provider(provider, { '1.0.0': linux, '1.1.0': { ...linux, text } })
      const counted = () => scene().metrics.metrics()
      const poll = async () => {
        scene().aheadMs += 10 * 60_000
        scene().upstream.asked.length = 0
        await scene().run()
      }
      offer('as published')
      await scene().write('Depot', 'main', {
        global: { storageConfig },
        providerConfigs: [{ name: 'hello', namespace: 'acme' }],
        pollingIntervalMinutes: 5,
      })
      await scene().run()
      const name = 'hello-1-1-0-linux-amd64'
      const { artifact } = scene().status('Version', name)
      const stored = await scene().stored()

      offer('built again')
      await poll()
      expect(scene().condition('Version', name, 'Drifted')).toMatchObject({
        status: 'True',
        reason: 'UpstreamChanged',
        message: expect.stringContaining('which is still served') as string,
      })
      expect(scene().status('Version', name).artifact).toEqual(artifact)
      expect(await scene().stored()).toEqual(stored)
      const evidence = scene().status('Version', name).substitutions
      expect(evidence).toEqual([
        {
          at: expect.any(String) as string,
          served: artifact?.contentDigest,
          offered: scene().status('Version', name).drift?.contentDigest,
          from: 'https://registry.test/terraform-provider-hello_1.1.0_linux_amd64.zip',
        },
      ])
      expect(await counted()).toContain('depot_upstream_substitution_total{kind="Provider"} 1\n')
      expect(scene().condition('Version', 'hello-1-0-0-linux-amd64', 'Drifted')).toMatchObject({
        status: 'False',
      })
      await poll()
      expect(scene().upstream.asked).not.toContain(`fetch ${provider} 1.1.0`)

      offer('as published')
      await poll()
      expect(scene().status('Version', name).substitutions).toEqual(evidence)
      expect(scene().status('Version', name)).toMatchObject({ synced: true, artifact })
      offer('built again')
      await poll()
      expect(scene().status('Version', name).substitutions).toEqual(evidence)
      offer('as published')
      await poll()
      expect(await counted()).toContain('depot_upstream_substitution_total{kind="Provider"} 1\n')
      await poll()
      const asked = scene().upstream.asked.filter((what) => !what.startsWith('list'))
      expect(asked.toSorted()).toEqual([`sums ${provider} 1.0.0`, `sums ${provider} 1.1.0`])
    })

    it.each([
      ['SHA256SUMS without a good signature', 'SignatureInvalid'],
      ['a package answer that SHA256SUMS does not confirm', 'ChecksumMismatch'],
      ['SHA256SUMS that another key signed', 'SigningKeyChanged'],
    ] as const)(
      'other digests in %s are evidence too, and the stored bytes stay',
      async (_, reason) => {
        const linux = { platforms: ['linux/amd64'], signer: first }
        scene().upstream.provider(provider, { '1.0.0': linux })
        await scene().write('Depot', 'main', {
          global: { storageConfig },
          providerConfigs: [{ name: 'hello', namespace: 'acme' }],
          pollingIntervalMinutes: 5,
        })
        await scene().run()
        const name = 'hello-1-0-0-linux-amd64'
        const { artifact } = scene().status('Version', name)
        const poll = async () => {
          scene().aheadMs += 10 * 60_000
          await scene().run()
        }
        const counted = () => scene().metrics.metrics()
        const event = vi.spyOn(scene().objects, 'event')
        const isOther = reason === 'SigningKeyChanged'
        scene().upstream.provider(provider, {
          '1.0.0': { ...linux, text: 'stolen', ...(isOther && { signer: 'E'.repeat(40) }) },
        })
        if (!isOther) {
          const fault = new FillError(reason, 'upstream lies')
          scene().upstream.faults.set(`release ${provider} 1.0.0`, fault)
        }
        const before = await counted()
        expect(before).toContain('depot_upstream_substitution_total{kind="Provider"} 0\n')
        await poll()
        const { substitutions = [] } = scene().status('Version', name)
        expect(substitutions).toEqual([
          {
            at: expect.any(String) as string,
            served: artifact?.contentDigest,
            offered: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
            from: 'SHA256SUMS of registry.test/acme/hello 1.0.0',
          },
        ])
        expect(scene().condition('Version', name, 'Ready')).toMatchObject({ reason })
        expect(scene().status('Version', name).artifact).toEqual(artifact)
        expect(await scene().stored()).toHaveLength(4)
        await poll()
        expect(scene().status('Version', name).substitutions).toEqual(substitutions)
        expect(await counted()).toContain('depot_upstream_substitution_total{kind="Provider"} 1\n')
        expect(event).not.toHaveBeenCalledWith(
          expect.objectContaining({ reason: 'ArchiveReplaced' }),
        )
        expect(scene().upstream.asked.filter((what) => what.startsWith('fetch'))).toHaveLength(1)
        scene().upstream.faults.clear()
        scene().upstream.provider(provider, { '1.0.0': linux })
        scene().aheadMs += 24 * 3_600_000
        await poll()
        expect(scene().status('Version', name)).toMatchObject({
          synced: true,
          artifact: { sha256: artifact?.sha256, fileName: artifact?.fileName },
        })
      },
    )

    it('documents stay as long as one platform needs them', async () => {
      scene().upstream.provider(provider, { '1.0.0': { platforms, signer: first } })
      await write({}, '1.0.0')
      await scene().run()
      expect(await scene().stored()).toHaveLength(6)
      await write({ operatingSystems: ['linux'] }, '1.0.0')
      await scene().run({ timings: { removalGraceMs: 0 } })
      await eventually(async () => expect(await scene().stored()).toHaveLength(4))
      await write({ operatingSystems: ['linux'] })
      await scene().run({ confirmRemovals: true, timings: { removalGraceMs: 0 } })
      await eventually(async () => expect(await scene().stored()).toEqual([]))
    })

    it('a version signed by another key is held back until the key is trusted', async () => {
      scene().upstream.provider(provider, {
        '1.0.0': { platforms: ['linux/amd64'], signer: first },
      })
      await write({}, '1.0.0')
      await scene().run()
      scene().upstream.provider(provider, {
        '1.0.0': { platforms: ['linux/amd64'], signer: first },
        '1.1.0': { platforms: ['linux/amd64'], signer: second },
      })
      await write({}, '1.0.0', '1.1.0')
      await scene().run()
      const name = 'hello-1-1-0-linux-amd64'
      expect(scene().condition('Version', name, 'Verified')).toMatchObject({
        status: 'False',
        reason: 'SigningKeyChanged',
        message: expect.stringContaining(`${second}, the first version by ${first}`) as string,
      })
      expect(scene().status('Version', name).artifact).toBeUndefined()
      expect(scene().status('Provider', 'hello')).toMatchObject({ latestVersion: '1.0.0' })
      await write({ trustedKeys: [first, second] }, '1.0.0', '1.1.0')
      await scene().run()
      expect(scene().status('Version', name)).toMatchObject({ synced: true })
    })

    it('a key is not the first one before a version that it signed is stored', async () => {
      const offer = (signer: string) =>
        scene().upstream.provider(provider, { '1.0.0': { platforms: ['linux/amd64'], signer } })
      offer(second)
      const fetch = `fetch ${provider} 1.0.0`
      scene().upstream.faults.set(fetch, new FillError('NotAnArchive', 'the archive is damaged'))
      await write({}, '1.0.0')
      await scene().run()
      const name = 'hello-1-0-0-linux-amd64'
      expect(scene().condition('Version', name, 'Stalled')).toMatchObject({
        reason: 'NotAnArchive',
      })
      scene().upstream.faults.clear()
      offer(first)
      await scene().objects.patch(
        { kind: 'Version', namespace: scene().namespace, name },
        { metadata: { annotations: { 'depot.internal/sync-requested-at': 'now' } } },
      )
      await eventually(() => expect(scene().status('Version', name).synced).toBe(true))
      expect(scene().status('Version', name).release?.keyFingerprint).toBe(first)
    })

    it('an unsigned release is refused, unless the config allows it', async () => {
      scene().upstream.provider(provider, { '1.0.0': { platforms: ['linux/amd64'] } })
      await write({}, '1.0.0')
      await scene().run()
      const name = 'hello-1-0-0-linux-amd64'
      expect(scene().condition('Version', name, 'Stalled')).toMatchObject({ reason: 'Unsigned' })
      await write({ signature: 'IfPresent' }, '1.0.0')
      await scene().run()
      expect(scene().status('Version', name)).toMatchObject({ synced: true })
      expect(scene().condition('Version', name, 'Verified')).toMatchObject({
        status: 'False',
        reason: 'Unsigned',
      })
    })
  })
}
