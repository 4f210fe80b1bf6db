import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GnuPG } from '../../archives/signing/gnupg.fixture.ts'
import { storageConfig } from './scenario-parts.fixture.ts'
import { ServedScene } from './upstreams.fixture.ts'

describe.runIf(GnuPG.wanted)('an upstream in trouble', () => {
  let served: ServedScene
  beforeEach(async () => {
    served = await ServedScene.open()
    const { github } = served.upstreams
    for (const name of ['vpc', 'dns', 'iam']) {
      github.tag(`acme/${name}`, 'v1.0.0', { 'main.tf': `# ${name}\n` })
    }
    await served.upstreams.provider('acme/dns', '2.0.0')
    const module = (name: string) => ({ name, provider: 'aws', repoOwner: 'acme' })
    await served.scene.write('Depot', 'main', {
      global: { storageConfig },
      moduleConfigs: ['vpc', 'dns', 'iam'].map(module),
      providerConfigs: [{ name: 'tls', namespace: 'acme' }],
    })
    await served.upstreams.provider('acme/tls', '2.0.0')
  })
  afterEach(() => served[Symbol.asyncDispose]())

  it('a host that says nothing fails its own configs only, and the Depot reports them', async () => {
    served.upstreams.registry.faults.on(/versions/, 'silent')
    await served.run({ timings: { listMs: 3000 } })
    const { scene } = served
    expect(scene.condition('Depot', 'main', 'Ready')).toMatchObject({
      status: 'False',
      reason: 'PartiallySynced',
      message: expect.stringContaining('took too long') as string,
    })
    expect(scene.status('Depot', 'main').modules).toEqual(['dns', 'iam', 'vpc'])
    expect(scene.status('Module', 'vpc')).toMatchObject({ synced: true })
  })

  it('a failure that passes in a moment is tried again before a single run ends', async () => {
    served.upstreams.github.faults.on(/tags/, 'error', 2)
    served.upstreams.registry.faults.on(/SHA256SUMS/, 'cut', 2)
    await served.run({ tries: 3 })
    expect(served.scene.failing()).toEqual([])
    for (const name of ['vpc', 'dns', 'iam']) {
      expect(served.scene.status('Module', name)).toMatchObject({ synced: true })
    }
    expect(served.scene.status('Provider', 'tls')).toMatchObject({ synced: true })
  })

  it('a failure that lasts ends a single run', async () => {
    served.upstreams.github.faults.on(/vpc\/tags/, 'error')
    await served.run({ tries: 3 })
    expect(served.scene.failing()).toEqual(['Depot team/main'])
    // The run waits for three attempts, and more may become due while it still works on other objects.
    const attempts = served.upstreams.github.asked.filter((url) => url.includes('vpc/tags'))
    expect(attempts.length).toBeGreaterThanOrEqual(3)
    expect(attempts.length).toBeLessThan(10)
  })

  it('under a small rate limit, every repository that was listed is served, and a token is suggested', async () => {
    const { scene, upstreams } = served
    const names = Array.from({ length: 50 }, (_, index) => `many-${index}`)
    for (const name of names) {
      for (const tag of ['v1.0.0', 'v1.1.0', 'v1.2.0']) {
        upstreams.github.tag(`acme/${name}`, tag, { 'main.tf': `# ${name} ${tag}\n` })
      }
    }
    upstreams.github.limit = 60
    upstreams.github.remaining = 60
    const moduleConfigs = names.map((name) => ({ name, provider: 'aws', repoOwner: 'acme' }))
    await scene.write('Depot', 'main', { global: { storageConfig }, moduleConfigs })
    await served.run()
    const latest = scene.names('Module').map((name) => scene.status('Module', name).latestVersion)
    expect(latest.length).toBeGreaterThan(20)
    expect(latest.filter((version) => version === undefined)).toEqual([])
    expect(upstreams.github.remaining).toBeGreaterThanOrEqual(0)
    expect(scene.condition('Depot', 'main', 'Ready')?.message).toContain('a token raises the limit')
  })

  it('a download that says nothing fails its own version', async () => {
    served.upstreams.github.faults.on(/dns\/legacy/, 'silent')
    await served.run({ timings: { fetchMs: 4000 } })
    const { scene } = served
    expect(scene.condition('Version', 'dns-1-0-0', 'Ready')).toMatchObject({
      reason: 'UpstreamTimeout',
      message: expect.stringContaining('/acme/dns/legacy.tar.gz') as string,
    })
    expect(scene.status('Version', 'vpc-1-0-0')).toMatchObject({ synced: true })
    expect(scene.status('Provider', 'tls')).toMatchObject({ synced: true })
  })
})
