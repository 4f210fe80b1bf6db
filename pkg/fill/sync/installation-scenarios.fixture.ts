import { describe, expect, it } from 'vitest'
import type { UpstreamPolicy } from '../../api/v1alpha1/v1alpha1.ts'
import { eventually, storageConfig, url } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const address = 'git.test/vpc'
const deny = [{ address, versions: '1.1.0', reason: 'stolen' }]

/** The file of --upstream-policy. */
function fileWith(policy: UpstreamPolicy) {
  const listeners = new Set<() => void>()
  const file = {
    current: policy,
    onChange(listener: () => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => Promise.resolve(),
  }
  const change = (now: UpstreamPolicy) => {
    file.current = now
    for (const listener of listeners) listener()
  }
  return { file, change, listeners }
}

/** Scenarios in which the whole installation has a policy. */
export function installationScenarios(scene: () => Scene): void {
  describe('the policy of the installation', () => {
    const heldBack = () => scene().status('Module', 'vpc').listing?.heldBack
    const listed = () => scene().listed()
    const condition = (type: string) => scene().condition('Depot', 'main', type)
    const withdrawn = () => scene().status('Version', 'vpc-1-1-0').quarantinedBy

    it('holds what a Depot excepts, and changes while it runs', async () => {
      const { file, change, listeners } = fileWith({ deny })
      const exceptions = [{ address, version: '1.1.0', reason: 'ok', by: 'A' }]
      scene().upstream.repository(url, { 'v1.0.0': 'a', 'v1.1.0': 'b' })
      await scene().write('Depot', 'main', {
        global: { storageConfig, moduleConfig: { provider: 'aws' } },
        moduleConfigs: [{ name: 'vpc', source: { type: 'git', url } }],
        policy: { exceptions },
      })
      await scene().run({ installation: file })
      expect(listed()).toEqual(['v1.0.0'])
      expect(heldBack()).toEqual([expect.objectContaining({ by: 'Installation' })])
      expect(condition('HeldBack')?.message).toContain('in the file of --upstream-policy')
      change({ deny, exceptions })
      await eventually(() => expect(listed()).toEqual(['v1.1.0', 'v1.0.0']))
      await eventually(() => expect(scene().status('Version', 'vpc-1-1-0').synced).toBe(true))
      change({ deny })
      await eventually(() =>
        expect(withdrawn()?.[0]?.message).toBe(
          'denied: stolen (policy of the whole installation; who runs it can except the version there)',
        ),
      )
      change({})
      await eventually(() => expect(withdrawn()).toBeUndefined())
      await scene().stop()
      expect(listeners.size).toBe(0)
    })
  })
}
