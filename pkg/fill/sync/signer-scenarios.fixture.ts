import { describe, expect, it, vi } from 'vitest'
import { heldBackCount } from './parent/held-back.ts'
import { eventually, storageConfig } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const day = 86_400_000

/** Scenarios in which the rule of a policy reads who signed a provider. */
export function signerScenarios(scene: () => Scene): void {
  describe('a rule on the signer', () => {
    const write = (policy: object | undefined, spec: object) =>
      scene().write('Depot', 'main', {
        global: { storageConfig },
        ...(policy && { policy }),
        ...spec,
      })
    const later = async (ms: number) => {
      scene().aheadMs += ms
      await scene().run({ pollAtStart: true })
    }
    const condition = (type: string) => scene().condition('Depot', 'main', type)

    it('lets a rule decide by the signer of a provider, before its archive is fetched', async () => {
      const [known, other] = ['A'.repeat(40), 'B'.repeat(40)]
      const platforms = ['linux/amd64']
      scene().upstream.provider('acme/dns', {
        '1.0.0': { platforms, signer: known },
        '1.1.0': { platforms, signer: other },
        '1.2.0': { platforms },
      })
      const rule = (expression: string) => ({ rule: { expression, reason: 'not our key' } })
      const config = { name: 'dns', namespace: 'acme', signature: 'IfPresent', keyPolicy: 'Follow' }
      const spec = { providerConfigs: [config] }
      await write(rule(`upstream.signedBy == "${known}"`), spec)
      await scene().run()
      const ready = (version: string) =>
        scene().condition('Version', `dns-${version}-linux-amd64`, 'Ready')
      expect(ready('1-0-0')).toMatchObject({ reason: 'Synced' })
      expect(ready('1-1-0')).toMatchObject({
        reason: 'RuleRefused',
        message: `refused by the rule: not our key (policy of its Depot; it has a signature by ${other})`,
      })
      expect(ready('1-2-0')?.message).toContain('it has no signature')
      const fetched = () => scene().upstream.asked.filter((what) => what.startsWith('fetch'))
      expect(fetched()).toEqual(['fetch acme/dns 1.0.0'])
      const held = () => scene().status('Provider', 'dns').listing
      expect(held()).toMatchObject({
        address: 'registry.test/acme/dns',
        depot: `${scene().namespace}/main`,
        heldBack: [
          { version: '1.2.0', signedBy: '' },
          {
            version: '1.1.0',
            why: 'Refused',
            message: `refused by the rule: not our key (it has a signature by ${other})`,
            signedBy: other,
            since: expect.any(String) as string,
          },
        ],
      })
      expect(heldBackCount(scene().objects)).toBe(2)
      await eventually(() =>
        expect(condition('HeldBack')?.message).toContain(
          'refused by the policy (2): dns 1.2.0 (registry.test/acme/dns), refused by the rule: not our key',
        ),
      )
      // After a change of the rule, it decides again, and stored versions stay.
      await write(rule(`upstream.signedBy endsWith "${other.slice(-16)}"`), spec)
      await eventually(() => expect(ready('1-1-0')).toMatchObject({ reason: 'Synced' }))
      expect(ready('1-0-0')).toMatchObject({ reason: 'Synced' })
      expect(fetched()).toHaveLength(2)
      await eventually(() => expect(held()?.heldBack).toMatchObject([{ version: '1.2.0' }]))
      await later(day)
      expect(held()?.heldBack).toMatchObject([{ version: '1.2.0' }])
      await write(undefined, spec)
      await eventually(() => expect(held()).toBeUndefined())
      await eventually(() => expect(condition('HeldBack')).toBeUndefined())
    })

    it('asks once a day for a release whose signer is refused, and reports it once', async () => {
      const [known, other] = ['A'.repeat(40), 'B'.repeat(40)]
      const platforms = ['linux/amd64', 'linux/arm64']
      scene().upstream.provider('acme/dns', { '1.0.0': { platforms, signer: other } })
      const rule = (expression: string) => ({ rule: { expression, reason: 'not our key' } })
      const spec = { providerConfigs: [{ name: 'dns', namespace: 'acme' }] }
      await write(rule(`upstream.signedBy == "${known}"`), spec)
      const event = vi.fn<(event: { note: string }) => void>()
      scene().through = (objects) => {
        vi.spyOn(objects, 'event').mockImplementation(event)
        return objects
      }
      await scene().run()
      const asks = () =>
        scene().upstream.asked.filter((what) => what === 'release acme/dns 1.0.0').length
      const events = () => event.mock.calls.filter(([{ note }]) => note.startsWith('RuleRefused'))
      const poll = async (ms: number) => {
        scene().aheadMs += ms
        const annotations = { 'depot.internal/poll-requested-at': `${scene().aheadMs}` }
        const { namespace } = scene()
        await scene().objects.patch(
          { kind: 'Depot', namespace, name: 'main' },
          { metadata: { annotations } },
        )
        const status = () => scene().status('Depot', 'main').lastHandledPoll
        await eventually(() => expect(status()).toBe(`${scene().aheadMs}`))
        await scene().idle()
      }
      expect(events()).toHaveLength(2)
      const first = asks()
      await poll(3_600_000)
      await poll(3_600_000)
      expect(asks()).toBe(first)
      await poll(day)
      expect([asks(), events().length]).toEqual([first + 2, 2])
      // Another rule decides at once.
      await write(rule('upstream.signedBy == "C"'), spec)
      await eventually(() => expect(asks()).toBe(first + 4))
    })

    it('holds a release without signature while a policy asks for one, until it is signed', async () => {
      const platforms = ['linux/amd64', 'linux/arm64']
      scene().upstream.provider('acme/dns', { '1.0.0': { platforms } })
      const spec = { providerConfigs: [{ name: 'dns', namespace: 'acme' }] }
      const listing = () => scene().status('Provider', 'dns').listing
      await write({ requireSignature: true }, spec)
      await scene().run()
      const held = {
        address: 'registry.test/acme/dns',
        depot: `${scene().namespace}/main`,
        heldBack: [
          {
            version: '1.0.0',
            since: expect.any(String) as string,
            why: 'Unsigned',
            message: 'it has no signature, which requireSignature asks for',
            signedBy: '',
          },
        ],
      }
      await eventually(() => expect(listing()).toEqual(held))
      await eventually(() =>
        expect(condition('HeldBack')?.message).toContain(
          'refused by the policy (1): dns 1.0.0 (registry.test/acme/dns), it has no signature',
        ),
      )
      const before = scene().status('Provider', 'dns')
      await later(3_600_000)
      expect(listing()).toEqual(held)
      expect(scene().status('Provider', 'dns')).toEqual(before)
      // Then its own config alone refuses it.
      await write({ requireSignature: false }, spec)
      await eventually(() => expect(listing()).toBeUndefined())
      await eventually(() => expect(condition('HeldBack')).toBeUndefined())
      expect(scene().condition('Version', 'dns-1-0-0-linux-amd64', 'Ready')).toMatchObject({
        reason: 'Unsigned',
      })
      // With a policy that decides about other things too.
      await write(
        { requireSignature: true, allow: [{ address: 'registry.test/**', reason: 'all' }] },
        spec,
      )
      await eventually(() => expect(listing()).toEqual(held))
      scene().upstream.provider('acme/dns', { '1.0.0': { platforms, signer: 'A'.repeat(40) } })
      await later(2 * day)
      await eventually(() =>
        expect(scene().condition('Version', 'dns-1-0-0-linux-arm64', 'Ready')).toMatchObject({
          reason: 'Synced',
        }),
      )
      await eventually(() => expect(listing()).toBeUndefined())
    })

    it('refuses a signer for the same reason at each poll, without writing it again', async () => {
      const [known, other] = ['A'.repeat(40), 'B'.repeat(40)]
      const platforms = ['linux/amd64']
      scene().upstream.provider('acme/dns', {
        '1.0.0': { platforms, signer: known },
        '1.1.0': { platforms, signer: other },
      })
      const rule = { expression: `upstream.signedBy == "${known}"`, reason: 'not our key' }
      const providerConfigs = [{ name: 'dns', namespace: 'acme' }]
      await write({ rule }, { providerConfigs })
      await scene().run()
      await later(day)
      const refused = () => scene().object('Version', 'dns-1-1-0-linux-amd64')
      const before = refused()
      expect(before.status).toMatchObject({ attempted: { failures: 1 } })
      scene().upstream.asked.length = 0
      await later(day)
      expect(refused().status).toEqual(before.status)
      expect(scene().condition('Version', 'dns-1-1-0-linux-amd64', 'Ready')).toMatchObject({
        reason: 'RuleRefused',
      })
      // The release may have another signature by now.
      expect(scene().upstream.asked).toContain('release acme/dns 1.1.0')
    })
  })
}
