import { describe, expect, it } from 'vitest'
import { eventually, storageConfig } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const address = 'registry.test/acme/dns'
const [ours, theirs] = ['A'.repeat(40), 'B'.repeat(40)]
const rule = (expression: string) => ({ rule: { expression, reason: 'not yet' } })

/** Scenarios in which a person takes back a part of a policy. */
export function undoScenarios(scene: () => Scene): void {
  describe('a part of a policy', () => {
    const name = 'dns-1-0-0-linux-amd64'
    const write = (policy: object | undefined) =>
      scene().write('Depot', 'main', {
        global: { storageConfig },
        providerConfigs: [{ name: 'dns', namespace: 'acme', signature: 'IfPresent' }],
        ...(policy && { policy }),
      })
    const condition = (type: string) => scene().condition('Depot', 'main', type)
    const status = () => scene().status('Version', name)

    it.each([
      ['minimumAge', { minimumAge: '7d' }, theirs],
      ['deny', { deny: [{ address, reason: 'stolen' }] }, theirs],
      ['allow', { allow: [] }, theirs],
      ['rule', rule('false'), theirs],
      ['rule on the signer', rule(`upstream.signedBy == "${ours}"`), theirs],
      ['requireSignature', { requireSignature: true }, undefined],
      ['trustedKeys', { trustedKeys: [ours] }, theirs],
    ] as const)('leaves nothing when it is taken back: %s', async (_, policy, signer) => {
      const platforms = ['linux/amd64']
      scene().upstream.provider('acme/dns', { '1.0.0': { platforms, signer } })
      await write(policy)
      await scene().run()
      expect(await scene().stored()).toEqual([])
      await write(undefined)
      await eventually(() => expect(status()).toMatchObject({ synced: true }))
      await eventually(() => expect(condition('HeldBack')).toBeUndefined())
      const held = () => scene().status('Provider', 'dns').listing?.heldBack
      await eventually(() => expect(held()).toBeUndefined())
      expect(condition('Ready')).toMatchObject({ status: 'True' })
      // It comes too late for what is stored; only deny withdraws that, until it is taken back.
      const artifact = JSON.stringify(status().artifact)
      const isWithdrawn = 'deny' in policy
      await write(policy)
      await eventually(() =>
        expect(status().quarantinedBy?.length).toBe(isWithdrawn ? 1 : undefined),
      )
      await scene().idle()
      expect(JSON.stringify(status().artifact)).toBe(artifact)
      await write(undefined)
      await eventually(() => expect(status().quarantinedBy).toBeUndefined())
      await scene().idle()
      expect(status()).toMatchObject({ synced: true })
    })
  })
}
