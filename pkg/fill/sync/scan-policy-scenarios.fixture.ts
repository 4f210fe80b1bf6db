import { hash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { storageConfig, url, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

/** Versions that are held until a scanner has looked at them. */
export function scanPolicyScenarios(scene: () => Scene): void {
  const store = async (scanPolicy: object) => {
    scene().upstream.repository(url, { 'v1.0.0': 'first' })
    await scene().write('Module', 'vpc', {
      moduleConfig: { provider: 'aws', source: { type: 'git', url }, storageConfig, scanPolicy },
      versions: versions('v1.0.0'),
    })
    await scene().run()
    return scene().status('Version', 'vpc-1-0-0')
  }

  it('a version whose policy demands a scan is quarantined from the moment that it is stored', async () => {
    const { artifact, quarantinedBy } = await store({ block: 'CRITICAL' })
    expect(artifact?.fileName).toMatch(/^vpc-1\.0\.0-/)
    expect(quarantinedBy).toMatchObject([
      { by: 'ScanPolicy', message: expect.stringMatching(/^it was not scanned yet; /) },
    ])
  })

  it('a version that a person published has the policy of the module that it names', async () => {
    const content = Buffer.from('published')
    await mkdir(join(scene().storage, 'depot/net'), { recursive: true })
    await writeFile(join(scene().storage, 'depot/net/1.tar.gz'), content)
    const moduleConfig = { name: 'net', provider: 'aws', storageConfig }
    const upload = { fileName: '1.tar.gz', sha256: hash('sha256', content) }
    await scene().write('Module', 'net-aws', {
      moduleConfig: { ...moduleConfig, scanPolicy: { block: 'CRITICAL' } },
      versions: [],
    })
    const spec = { type: 'Module', version: '1.0.0', moduleConfigRef: moduleConfig, upload }
    await scene().write('Version', 'published', spec)
    await scene().run()
    expect(scene().status('Version', 'published').quarantinedBy).toMatchObject([
      { by: 'ScanPolicy' },
    ])
  })

  it('a version that may be served without a scan is not quarantined', async () => {
    expect((await store({ block: 'CRITICAL', onMissing: 'Serve' })).quarantinedBy).toBeUndefined()
  })

  it('a version that waits for a scan is served when its config no longer demands one', async () => {
    await store({ block: 'CRITICAL' })
    expect((await store({ block: 'CRITICAL' })).quarantinedBy).toHaveLength(1)
    expect((await store({ block: 'CRITICAL', onMissing: 'Serve' })).quarantinedBy).toBeUndefined()
  })

  it.each(['scan', 'dependencyScan'])(
    'a version that a scanner quarantined for its %s stays so when its lost archive is stored again',
    async (summary) => {
      const status = await store({})
      const { fileName = '', sha256 } = status.artifact ?? {}
      const counts = { critical: 1, high: 0, medium: 0, low: 0, unknown: 0 }
      const entry = {
        by: 'ScanPolicy' as const,
        message: 'scans found CRITICAL: CVE-1',
        since: '2026-11-27T00:00:00Z',
      }
      await scene().objects.writeStatus(scene().object('Version', 'vpc-1-0-0'), {
        ...status,
        [summary]: { sha256, scanner: 'trivy 0.70.0', counts },
        quarantinedBy: [entry],
      })
      await scene().stop()
      const lost = (await scene().stored()).find((path) => path.endsWith(fileName)) ?? ''
      await rm(join(scene().storage, lost))
      await scene().run({ verifyAtStart: 'look' })
      expect(await scene().stored()).toContain(lost)
      expect(scene().status('Version', 'vpc-1-0-0').artifact?.sha256).toBe(sha256)
      expect(scene().status('Version', 'vpc-1-0-0').quarantinedBy).toEqual([entry])
    },
  )

  it.each(['scan', 'dependencyScan'])(
    'a version with findings of its %s stays quarantined until a scanner decides',
    async (summary) => {
      const status = await store({ block: 'CRITICAL' })
      const counts = { critical: 1, high: 0, medium: 0, low: 0, unknown: 0 }
      const scan = { sha256: status.artifact?.sha256, scanner: 'trivy 0.70.0', counts }
      const version = scene().object('Version', 'vpc-1-0-0')
      await scene().objects.writeStatus(version, { ...status, [summary]: scan })
      expect((await store({ onMissing: 'Serve' })).quarantinedBy).toMatchObject([
        { by: 'ScanPolicy' },
      ])
    },
  )
}
