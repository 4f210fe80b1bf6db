import { hash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

/** Versions that people published, as `depot import` writes them: with `upload`, and without an owner. */
export function publishedScenarios(scene: () => Scene): void {
  describe('Versions that people published', () => {
    const store = async (file: string, content: Buffer) => {
      const path = join(scene().storage, 'depot', file)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, content)
      return hash('sha256', content)
    }
    const moduleConfig = { name: 'net', provider: 'aws', storageConfig }
    const publish = async (version: string, name = `by-hand-${version}`) => {
      const fileName = `${version}.tar.gz`
      const sha256 = await store(`net/${fileName}`, Buffer.from(version))
      const upload = { fileName, sha256 }
      const spec = { type: 'Module', version, moduleConfigRef: moduleConfig, upload }
      await scene().write('Version', name.replaceAll('.', '-'), spec)
    }
    const module = (config: object = moduleConfig) =>
      scene().write('Module', 'network', {
        moduleConfig: config,
        versions: versions('1.0.0', '1.1.0'),
      })

    it('are the versions of their module, which needs no source', async () => {
      await publish('1.0.0')
      await publish('1.1.0')
      await module()
      await scene().run()
      await eventually(() => expect(scene().status('Module', 'network').synced).toBe(true))
      expect(scene().names('Version')).toEqual(['by-hand-1-0-0', 'by-hand-1-1-0'])
      expect(scene().status('Module', 'network')).toMatchObject({
        latestVersion: '1.1.0',
        moduleVersionRefs: { '1.1.0': { name: 'by-hand-1-1-0', synced: true } },
      })
    })

    it('keep the time when their archive was stored when somebody requests a check', async () => {
      await publish('1.0.0')
      await module()
      await scene().run()
      const status = () => scene().status('Version', 'by-hand-1-0-0')
      await eventually(() => expect(status().artifact?.storedAt).toBeDefined())
      const { storedAt } = status().artifact ?? {}
      scene().aheadMs += 60_000
      const annotations = { 'depot.internal/sync-requested-at': 'now' }
      const ref = { kind: 'Version', namespace: scene().namespace, name: 'by-hand-1-0-0' } as const
      await scene().objects.patch(ref, { metadata: { annotations } })
      await eventually(() => expect(status().lastHandledSync).toBe('now'))
      expect(status().artifact?.storedAt).toBe(storedAt)
      expect(status().artifact?.rehashedAt).not.toBe(storedAt)
    })

    it('count for their module although its spec does not list them', async () => {
      await publish('1.0.0')
      await scene().write('Module', 'network', {
        moduleConfig: { ...moduleConfig, versionHistoryLimit: 1 },
        versions: [],
      })
      const sync = await scene().begin()
      const latest = () => scene().status('Module', 'network').latestVersion
      await eventually(() => expect(latest()).toBe('1.0.0'))
      await publish('1.1.0')
      await eventually(() => expect(latest()).toBe('1.1.0'))
      await sync.idle()
      expect(scene().status('Module', 'network')).toMatchObject({
        synced: true,
        versionCounts: { wanted: 2, synced: 2, failed: 0, listed: 2 },
      })
      await scene().remove('Version', 'by-hand-1-1-0')
      await eventually(() => expect(latest()).toBe('1.0.0'))
    })

    it('take the place of Versions that could not be fetched', async () => {
      await publish('1.0.0')
      await module()
      const sync = await scene().begin()
      await eventually(() =>
        expect(scene().names('Version')).toEqual(['by-hand-1-0-0', 'network-1-1-0']),
      )
      await publish('1.1.0')
      await eventually(() => expect(scene().status('Module', 'network').synced).toBe(true))
      await sync.idle()
      expect(scene().names('Version')).toEqual(['by-hand-1-0-0', 'by-hand-1-1-0'])
    })

    it('are fetched instead once they are deleted, if the module has a source', async () => {
      scene().upstream.repository(url, { 'v1.0.0': 'first', 'v1.1.0': 'second' })
      await publish('1.0.0')
      await module({ ...moduleConfig, source: { type: 'git', url } })
      await scene().run()
      expect(scene().names('Version')).toEqual(['by-hand-1-0-0', 'network-1-1-0'])
      await scene().remove('Version', 'by-hand-1-0-0')
      await eventually(() =>
        expect(scene().names('Version')).toEqual(['network-1-0-0', 'network-1-1-0']),
      )
      await eventually(() => expect(scene().status('Module', 'network').synced).toBe(true))
    })

    it('are no longer said to be published by somebody once a source replaces their archive', async () => {
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      await publish('1.0.0')
      await module({ ...moduleConfig, source: { type: 'git', url } })
      await scene().run()
      const name = 'by-hand-1-0-0'
      const { objects } = scene()
      const published = { by: 'repo:acme/vpc', at: '2026-11-01T00:00:00Z' }
      const status = { ...scene().status('Version', name), published }
      await objects.writeStatus(scene().object('Version', name), status)
      await scene().write('Version', name, {
        type: 'Module',
        version: '1.0.0',
        moduleConfigRef: { ...moduleConfig, source: { type: 'git', url } },
      })
      await scene().begin()
      await eventually(() =>
        expect(scene().status('Version', name).artifact?.fileName).not.toBe('1.0.0.tar.gz'),
      )
      expect(scene().status('Version', name)).not.toHaveProperty('published')
    })

    it('leave a stored Version of their module in its place', async () => {
      scene().upstream.repository(url, { 'v1.0.0': 'first', 'v1.1.0': 'second' })
      await module({ ...moduleConfig, source: { type: 'git', url } })
      await scene().run()
      await publish('1.0.0')
      await scene().run()
      expect(scene().status('Module', 'network')).toMatchObject({
        moduleVersionRefs: { '1.0.0': { name: 'network-1-0-0', synced: true } },
      })
    })

    it.each([
      ['of another system', { ...moduleConfig, provider: 'azurerm' }],
      ['of another module', { ...moduleConfig, name: 'other' }],
    ])('%s are not taken', async (_, config) => {
      await publish('1.0.0')
      await module(config)
      await scene().run()
      expect(scene().names('Version')).toEqual(['by-hand-1-0-0', 'network-1-0-0', 'network-1-1-0'])
    })

    it.each([
      ['lists them', versions('1.0.0')],
      ['does not list them', []],
    ])('are the platforms of their provider, which %s and asks no upstream', async (_, listed) => {
      const providerConfigRef = { name: 'dns', storageConfig }
      for (const architecture of ['amd64', 'arm64']) {
        const fileName = `terraform-provider-dns_1.0.0_linux_${architecture}.zip`
        const sha256 = await store(`dns/${fileName}`, Buffer.from(architecture))
        await scene().write('Version', `dns-${architecture}`, {
          type: 'Provider',
          version: '1.0.0',
          operatingSystem: 'linux',
          architecture,
          providerConfigRef,
          upload: { fileName, sha256 },
        })
      }
      await scene().write('Provider', 'dns', {
        providerConfig: providerConfigRef,
        versions: listed,
      })
      await scene().run()
      await eventually(() => expect(scene().status('Provider', 'dns').synced).toBe(true))
      expect(scene().names('Version')).toEqual(['dns-amd64', 'dns-arm64'])
      expect(scene().status('Provider', 'dns').latestVersion).toBe('1.0.0')
      expect(scene().upstream.asked).toEqual([])
    })

    it('of a release come to rest while their archives are missing', async () => {
      const providerConfigRef = { name: 'dns', storageConfig }
      const release = ['amd64', 'arm64'].map((architecture, index) => ({
        platform: `linux_${architecture}`,
        sha256: String(index).repeat(64),
      }))
      for (const { platform, sha256 } of release) {
        const [operatingSystem, architecture] = platform.split('_')
        await scene().write('Version', `dns-${architecture}`, {
          type: 'Provider',
          version: '1.0.0',
          operatingSystem,
          architecture,
          providerConfigRef,
          upload: { fileName: `${architecture}.zip`, sha256, release },
        })
      }
      await scene().run()
      for (const name of ['dns-amd64', 'dns-arm64']) {
        expect(scene().condition('Version', name, 'Ready')?.reason).toBe('ArchiveMissing')
      }
    })

    it('of a release go on once the last platform is there, although that one is suspended', async () => {
      const providerConfigRef = { name: 'dns', storageConfig }
      const release = await Promise.all(
        ['amd64', 'arm64'].map(async (architecture) => ({
          platform: `linux_${architecture}`,
          sha256: await store(`dns/${architecture}.zip`, Buffer.from(architecture)),
        })),
      )
      const write = (architecture: string, sha256: string | undefined, more: object = {}) =>
        scene().write('Version', `dns-${architecture}`, {
          type: 'Provider',
          version: '1.0.0',
          operatingSystem: 'linux',
          architecture,
          providerConfigRef,
          upload: { fileName: `${architecture}.zip`, sha256, release },
          ...more,
        })
      const ready = () => scene().condition('Version', 'dns-amd64', 'Ready')
      await write('amd64', release[0]?.sha256)
      scene().aheadMs = 61_000
      await scene().begin()
      await eventually(() => expect(ready()?.reason).toBe('ReleaseIncomplete'))
      await write('arm64', release[1]?.sha256, { suspend: true })
      await eventually(() => expect(ready()?.status).toBe('True'))
    })

    it('of a release wait for all of its platforms, and stay when one of them is deleted', async () => {
      const platforms = ['amd64', 'arm64', 'riscv64']
      const providerConfigRef = { name: 'dns', storageConfig }
      const release = await Promise.all(
        platforms.map(async (architecture) => ({
          platform: `linux_${architecture}`,
          sha256: await store(`dns/${architecture}.zip`, Buffer.from(architecture)),
        })),
      )
      const publishPlatform = (index: number) =>
        scene().write('Version', `dns-${platforms[index]}`, {
          type: 'Provider',
          version: '1.0.0',
          operatingSystem: 'linux',
          architecture: platforms[index],
          providerConfigRef,
          upload: { fileName: `${platforms[index]}.zip`, sha256: release[index]?.sha256, release },
        })
      const stored = () =>
        scene()
          .objects.list('Version')
          .filter(({ status }) => (status as { checksum?: string } | undefined)?.checksum)
          .map(({ metadata }) => metadata.name)
          .toSorted()
      const ready = () => scene().condition('Version', 'dns-amd64', 'Ready')
      await scene().write('Provider', 'dns', { providerConfig: providerConfigRef, versions: [] })
      await publishPlatform(0)
      await publishPlatform(1)
      // A cluster says when they were created.
      scene().aheadMs = 61_000
      const sync = await scene().begin()
      await eventually(() =>
        expect(ready()).toMatchObject({
          status: 'False',
          reason: 'ReleaseIncomplete',
          message: expect.stringContaining('the release lacks linux_riscv64: run depot publish'),
        }),
      )
      expect(stored()).toEqual([])
      await publishPlatform(2)
      await eventually(() => expect(stored()).toEqual(platforms.map((one) => `dns-${one}`)))
      await eventually(() => expect(ready()?.status).toBe('True'))
      await scene().remove('Version', 'dns-arm64')
      await eventually(() => expect(scene().names('Version')).toHaveLength(2))
      await sync.idle()
      expect(stored()).toEqual(['dns-amd64', 'dns-riscv64'])
    })
  })
}
