import { describe, expect, it } from 'vitest'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

/** Versions that people or policies withdraw. */
export function lifecycleScenarios(scene: () => Scene): void {
  describe('the lifecycle of versions', () => {
    const moduleConfig = {
      name: 'vpc',
      provider: 'aws',
      source: { type: 'git', url },
      storageConfig,
    }
    const write = (...lifecycle: object[]) =>
      scene().write('Module', 'vpc', {
        moduleConfig,
        versions: versions('1.0.0', '1.1.0'),
        ...(lifecycle.length > 0 && { lifecycle }),
      })
    const states = () =>
      ['vpc-1-0-0', 'vpc-1-1-0'].map((name) => scene().status('Version', name).lifecycle?.state)
    const latest = () => scene().status('Module', 'vpc').latestVersion
    const fill = async (...lifecycle: object[]) => {
      scene().upstream.repository(url, { 'v1.0.0': 'first', 'v1.1.0': 'second' })
      await write(...lifecycle)
      await scene().run()
    }

    it('is in the statuses of Versions as the rules of their parent have it, even after they go', async () => {
      const note = { message: 'leaks keys', replacedBy: '1.0.0' }
      await fill({ versions: '1.1.0', state: 'Quarantined', ...note })
      await eventually(() => {
        expect(states()).toEqual([undefined, 'Quarantined'])
        expect(latest()).toBe('1.0.0')
      })
      const { lifecycle, synced } = scene().status('Version', 'vpc-1-1-0')
      const since = expect.stringMatching(/^20.*Z$/)
      expect([lifecycle, synced]).toEqual([{ state: 'Quarantined', ...note, since }, true])
      await write({ versions: '1.1.0', state: 'Quarantined', message: 'leaks all keys' })
      const sameState = { ...lifecycle, message: 'leaks all keys', replacedBy: undefined }
      await eventually(() =>
        expect(scene().status('Version', 'vpc-1-1-0').lifecycle).toEqual(sameState),
      )
      await write({ versions: '< 1.1.0', state: 'Deprecated' })
      await eventually(() => {
        expect(states()).toEqual(['Deprecated', undefined])
        expect(latest()).toBe('1.1.0')
      })
      await write()
      await eventually(() => expect(states()).toEqual([undefined, undefined]))
      const ended = ['vpc-1-0-0', 'vpc-1-1-0'].map((name) => {
        return scene().status('Version', name).quarantineEndedAt
      })
      expect(ended).toEqual([undefined, since])
    })

    it('follows what a policy wrote, whose entries it leaves alone', async () => {
      await fill()
      const entry = { by: 'UpstreamPolicy', message: 'CVE-2026-1', since: '2026-11-26T10:00:00Z' }
      const version = scene().object('Version', 'vpc-1-1-0')
      const status = { ...scene().status('Version', 'vpc-1-1-0'), quarantinedBy: [entry] }
      await scene().objects.writeStatus(version, status)
      await eventually(() => {
        expect(states()).toEqual([undefined, 'Quarantined'])
        expect(latest()).toBe('1.0.0')
      })
      const annotation = { 'depot.internal/sync-requested-at': 'now' }
      const ref = { kind: 'Version', namespace: scene().namespace, name: 'vpc-1-1-0' } as const
      await scene().objects.patch(ref, { metadata: { annotations: annotation } })
      await eventually(() =>
        expect(scene().status('Version', 'vpc-1-1-0').lastHandledSync).toBe('now'),
      )
      expect(scene().status('Version', 'vpc-1-1-0').quarantinedBy).toEqual([entry])
    })

    it('stays as it was while a rule has a mistake', async () => {
      const quarantine = { versions: '1.1.0', state: 'Quarantined' }
      await fill(quarantine)
      await eventually(() => expect(states()).toEqual([undefined, 'Quarantined']))
      const seen = new Set<unknown>()
      const forget = scene().objects.onChange(() => seen.add(states()[1]))
      await write({ ...quarantine, versions: '1.1,0.x' }).catch(() => 'refused by the API server')
      await write(quarantine, { versions: '1.0.0', state: 'Deprecated' })
      await eventually(() => expect(states()).toEqual(['Deprecated', 'Quarantined']))
      forget()
      expect([...seen]).toEqual(['Quarantined'])
    })
  })
}
