import { describe, expect, it, vi } from 'vitest'
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

    const depot = (policy: object = {}) =>
      scene().write('Depot', 'main', {
        global: { storageConfig, moduleConfig: { provider: 'aws' } },
        moduleConfigs: [{ name: 'vpc', source: { type: 'git', url } }],
        policy,
      })
    const text = 'denied: stolen (policy of the whole installation'
    const expectWithdrawn = () =>
      eventually(() => expect(withdrawn()?.[0]?.message).toContain(text))

    it('withdraws what it denies of a Module that no Depot made, also over a restart', async () => {
      const { file, change } = fileWith({ deny })
      const source = { type: 'git', url }
      scene().upstream.repository(url, { 'v1.0.0': 'a', 'v1.1.0': 'b' })
      await scene().write('Module', 'vpc', {
        moduleConfig: { provider: 'aws', source, storageConfig },
        versions: [{ version: '1.0.0' }, { version: '1.1.0' }],
      })
      await scene().run({ installation: file })
      expect(withdrawn()?.[0]?.message).toContain(text)
      expect(scene().status('Version', 'vpc-1-0-0').quarantinedBy).toBeUndefined()
      change({})
      await eventually(() => expect(withdrawn()).toBeUndefined())
      file.current = { deny }
      await scene().run({ installation: file })
      expect(withdrawn()?.[0]?.message).toContain(text)
      const until = new Date(Date.now() + scene().aheadMs + 3_600_000).toISOString()
      change({ deny: deny.map((rule) => ({ ...rule, until })) })
      await eventually(() => expect(withdrawn()?.[0]?.message).toContain(until))
      scene().aheadMs += 3_600_001
      await scene().run({ installation: file })
      expect(withdrawn()).toBeUndefined()
    })

    it('adds what an older release did not write, and nothing else', async () => {
      const { file } = fileWith({ deny })
      scene().upstream.repository(url, { 'v1.0.0': 'a', 'v1.1.0': 'b', 'v1.2.0': 'c' })
      await depot()
      await scene().run()
      await scene().run({ installation: file })
      expect(withdrawn()).toMatchObject([{ owner: 'Installation' }])
      const since = '2026-11-01T00:00:00Z'
      const version = scene().object('Version', 'vpc-1-1-0')
      // As it is stored: its end names the owner.
      const older = {
        by: 'UpstreamPolicy' as const,
        message:
          'denied: stolen (policy of the whole installation; who runs it can except the version there)',
      }
      const status = { ...(version.status as object), quarantinedBy: [{ ...older, since }] }
      await scene().objects.writeStatus(version, status)
      // Not even its own mistake gives back what the installation withdrew, whoever wrote the entry.
      await depot({ deny: [{ address: 'x.test/**', versions: '=> 1', reason: 'r' }] })
      const event = vi.spyOn(scene().objects, 'event')
      await scene().run({ installation: file })
      expect(withdrawn()).toEqual([{ ...older, since, owner: 'Installation' }])
      expect(event).not.toHaveBeenCalledWith(expect.objectContaining({ reason: 'Quarantined' }))
      file.current = {}
      await scene().run({ installation: file })
      expect(withdrawn()).toBeUndefined()
    })

    it('withdraws what it denies while a rule of the Depot cannot be read, and after the Depot is gone', async () => {
      const { file, change } = fileWith({})
      scene().upstream.repository(url, { 'v1.0.0': 'a', 'v1.1.0': 'b' })
      await depot()
      await scene().run({ installation: file })
      await depot({ deny: [{ address: 'x.test/**', versions: '=> 1', reason: 'r' }] })
      await eventually(() => expect(condition('Ready')).toMatchObject({ reason: 'InvalidSpec' }))
      change({ deny })
      await expectWithdrawn()
      await scene().run({ installation: file })
      expect(withdrawn()?.[0]?.message).toContain(text)
      change({})
      await eventually(() => expect(withdrawn()).toBeUndefined())
      await scene().remove('Depot', 'main')
      const label = () => scene().object('Module', 'vpc').metadata.labels['depot.internal/depot']
      await eventually(() => expect(label()).toBeUndefined())
      change({ deny })
      await expectWithdrawn()
      change({})
      await eventually(() => expect(withdrawn()).toBeUndefined())
    })

    it('asks for signatures, and says whose policy does', async () => {
      const { file, change } = fileWith({ requireSignature: true })
      scene().upstream.provider('acme/dns', { '1.0.0': { platforms: ['linux/amd64'] } })
      await scene().write('Depot', 'main', {
        global: { storageConfig },
        providerConfigs: [{ name: 'dns', namespace: 'acme', signature: 'IfPresent' }],
      })
      await scene().run({ installation: file })
      const listing = () => scene().status('Provider', 'dns').listing
      await eventually(() =>
        expect(listing()?.heldBack).toMatchObject([
          { version: '1.0.0', why: 'Unsigned', by: 'Installation' },
        ]),
      )
      change({})
      await eventually(() => expect(listing()).toBeUndefined())
      await eventually(() =>
        expect(scene().status('Version', 'dns-1-0-0-linux-amd64').synced).toBe(true),
      )
    })

    it('refuses signers by its rule while that of the Depot cannot be read, and after the Depot is gone', async () => {
      const [ours, other] = ['A'.repeat(40), 'B'.repeat(40)]
      const rule = { expression: `upstream.signedBy == "${ours}"`, reason: 'not our key' }
      const { file } = fileWith({ rule })
      const platforms = ['linux/amd64']
      scene().upstream.provider('acme/dns', { '1.0.0': { platforms, signer: other } })
      const write = (policy: object) =>
        scene().write('Depot', 'main', {
          global: { storageConfig },
          providerConfigs: [{ name: 'dns', namespace: 'acme', signature: 'IfPresent' }],
          policy,
        })
      const expectRefused = async () => {
        await eventually(() =>
          expect(scene().condition('Version', 'dns-1-0-0-linux-amd64', 'Ready')).toMatchObject({
            reason: 'RuleRefused',
            message: expect.stringContaining('policy of the whole installation') as string,
          }),
        )
        await eventually(() =>
          expect(scene().status('Provider', 'dns').listing).toMatchObject({
            address: 'registry.test/acme/dns',
            heldBack: [{ version: '1.0.0', by: 'Installation', signedBy: other }],
          }),
        )
      }
      const tomorrow = async () => {
        scene().aheadMs += 86_400_000
        await scene().run({ installation: file, pollAtStart: true })
        await expectRefused()
        expect(scene().upstream.asked.filter((what) => what.startsWith('fetch'))).toEqual([])
      }
      await write({})
      await scene().run({ installation: file })
      await expectRefused()
      await write({ rule: { expression: 'upstream.((', reason: 'r' } })
      await eventually(() => expect(condition('Ready')).toMatchObject({ reason: 'InvalidSpec' }))
      await tomorrow()
      await scene().remove('Depot', 'main')
      await eventually(() =>
        expect(scene().object('Provider', 'dns').metadata.labels['depot.internal/depot']).toBe(
          undefined,
        ),
      )
      await tomorrow()
    })
  })
}
