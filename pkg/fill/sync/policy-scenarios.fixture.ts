import { describe, expect, it, vi } from 'vitest'
import { refOf } from '../../records/store/store.ts'
import { FillError } from '../sources/sources.ts'
import { eventually, storageConfig, url } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const day = 86_400_000
const address = 'git.test/vpc'

/** Scenarios in which the policy of a Depot denies versions, or allows only some. */
export function policyScenarios(scene: () => Scene): void {
  describe('a policy', () => {
    const write = (policy: object | undefined, spec: object = {}) =>
      scene().write('Depot', 'main', {
        global: { storageConfig, moduleConfig: { provider: 'aws' } },
        moduleConfigs: [{ name: 'vpc', source: { type: 'git', url } }],
        ...(policy && { policy }),
        ...spec,
      })
    const upstream = (...all: readonly string[]) =>
      scene().upstream.repository(url, Object.fromEntries(all.map((tag) => [tag, tag])))
    const later = async (ms: number) => {
      scene().aheadMs += ms
      await scene().run({ pollAtStart: true })
    }
    const listed = () =>
      (scene().object('Module', 'vpc').spec as { versions: { version: string }[] }).versions.map(
        ({ version }) => version,
      )
    const heldBack = () => scene().status('Module', 'vpc').listing?.heldBack
    const condition = (type: string) => scene().condition('Depot', 'main', type)
    const withdrawn = (version = 'vpc-1-1-0') => scene().status('Version', version).quarantinedBy
    const deny = (more: object = {}) => [{ address, versions: '1.1.0', reason: 'stolen', ...more }]
    const begin = async (policy?: object) => {
      upstream('v1.0.0', 'v1.1.0')
      await write(policy)
      await scene().run()
    }
    const scan = { by: 'ScanPolicy', message: 'CVE-1', since: '2026-11-26T10:00:00Z' } as const

    it('lets in no version that it denies, and says so with the reason', async () => {
      await begin({ deny: deny() })
      expect(listed()).toEqual(['v1.0.0'])
      expect(heldBack()).toEqual([
        { version: 'v1.1.0', since: expect.any(String) as string, message: 'denied: stolen' },
      ])
      expect(condition('HeldBack')?.message).toMatch(
        /^refused by the policy \(1\): vpc v1\.1\.0 \(git\.test\/vpc\), denied: stolen; to store/,
      )
      expect(condition('Ready')).toMatchObject({ status: 'True' })
      const since = heldBack()?.[0]?.since
      await later(day)
      expect(heldBack()?.[0]?.since).toBe(since)
      await write(undefined)
      await eventually(() => expect(listed()).toEqual(['v1.1.0', 'v1.0.0']))
      expect(scene().status('Module', 'vpc').listing).toBeUndefined()
    })

    it('withdraws stored versions that it denies, also while upstream cannot be listed, and gives them back', async () => {
      await begin()
      const version = scene().object('Version', 'vpc-1-1-0')
      await scene().objects.writeStatus(version, {
        ...(version.status as object),
        quarantinedBy: [scan],
      })
      scene().upstream.faults.set(url, new FillError('FetchFailed', 'there is no such host'))
      const event = vi.spyOn(scene().objects, 'event')
      await write({ deny: deny() })
      await eventually(() =>
        expect(withdrawn()).toEqual([
          scan,
          {
            by: 'UpstreamPolicy',
            message: expect.stringMatching(
              /^denied: stolen \(policy of Depot \S+\/main, whose editors can except it\)$/,
            ) as string,
            since: expect.any(String) as string,
          },
        ]),
      )
      expect(event).toHaveBeenCalledWith(expect.objectContaining({ reason: 'Quarantined' }))
      expect(withdrawn('vpc-1-0-0')).toBeUndefined()
      expect(await scene().stored()).toHaveLength(2)
      scene().upstream.faults.clear()
      await later(day)
      expect(listed()).toEqual(['v1.1.0', 'v1.0.0'])
      expect(withdrawn()).toHaveLength(2)
      const lifted = vi.spyOn(scene().objects, 'event')
      await write({
        deny: deny(),
        exceptions: [{ address, version: '1.1.0', reason: 'ok', by: 'A' }],
      })
      await eventually(() => expect(withdrawn()).toEqual([scan]))
      await write({ deny: deny() })
      await eventually(() => expect(withdrawn()).toHaveLength(2))
      await write(undefined)
      await eventually(() => expect(withdrawn()).toEqual([scan]))
      expect(lifted).toHaveBeenCalledWith(expect.objectContaining({ reason: 'QuarantineLifted' }))
    })

    it('withdraws a version also while somebody else changes its spec', async () => {
      await begin()
      const { objects } = scene()
      const writeStatus = objects.writeStatus.bind(objects)
      let isFirst = true
      vi.spyOn(objects, 'writeStatus').mockImplementation(async (object, status, options) => {
        const { quarantinedBy } = status as { quarantinedBy?: unknown }
        if (quarantinedBy !== undefined && isFirst) {
          isFirst = false
          const spec = { ...(object.spec as object), acceptBreaking: true }
          await objects.patch(refOf(object), { spec })
        }
        return writeStatus(object, status, options)
      })
      await write({ deny: deny() })
      await eventually(() => expect(withdrawn()).toHaveLength(1))
      expect(isFirst).toBe(false)
    })

    it('gives back what it withdrew when a config or the Depot goes', async () => {
      await begin({ deny: deny() })
      await write(undefined)
      await eventually(() => expect(scene().names('Version')).toHaveLength(2))
      await write({ deny: deny() })
      await eventually(() => expect(withdrawn()).toHaveLength(1))
      await write({ deny: deny() }, { moduleConfigs: [] })
      await eventually(() => expect(withdrawn()).toBeUndefined())
      expect(await scene().stored()).toHaveLength(2)
    })

    it('ends a rule at its time without a poll, and says that it has ended', async () => {
      const until = new Date(Date.now() + scene().aheadMs + day).toISOString().slice(0, 19)
      await begin()
      await write({ deny: deny({ until: `${until}Z` }) })
      await eventually(() => expect(withdrawn()).toHaveLength(1))
      expect(condition('PolicyExpired')).toBeUndefined()
      scene().aheadMs += day + 1000
      await scene().run()
      expect(withdrawn()).toBeUndefined()
      expect(condition('PolicyExpired')).toMatchObject({
        status: 'True',
        message: expect.stringContaining(`git.test/vpc (until ${until}Z)`) as string,
      })
      await write(undefined)
      await eventually(() => expect(condition('PolicyExpired')).toBeUndefined())
    })

    it('lets in only what a rule allows, and takes nothing back that is stored', async () => {
      await begin({ allow: [{ address: 'git.test/*', versions: '~> 1.0.0', reason: 'checked' }] })
      expect(listed()).toEqual(['v1.0.0'])
      expect(heldBack()?.[0]?.message).toContain('not allowed')
      await write({ allow: [] })
      await eventually(() => expect(heldBack()?.[0]?.version).toBe('v1.1.0'))
      expect(listed()).toEqual(['v1.0.0'])
      expect(withdrawn('vpc-1-0-0')).toBeUndefined()
    })

    it('is not followed in part if a rule cannot be read', async () => {
      await begin({ deny: deny({ versions: '=> 1' }) })
      expect(condition('Stalled')).toMatchObject({
        reason: 'InvalidSpec',
        message: expect.stringMatching(/a rule of the policy cannot be read: .*"=> 1"/) as string,
      })
      expect(scene().names('Version')).toEqual([])
    })

    it('asks for signatures and keys, whatever a config says', async () => {
      const key = 'A'.repeat(40)
      const release = { platforms: ['linux/amd64'], signer: key }
      scene().upstream.provider('acme/dns', {
        '1.0.0': release,
        '1.1.0': { ...release, signer: 'B'.repeat(40) },
      })
      scene().upstream.provider('acme/dnz', { '1.0.0': { platforms: ['linux/amd64'] } })
      const config = { namespace: 'acme', signature: 'IfPresent' }
      const providerConfigs = [
        { ...config, name: 'dns' },
        { ...config, name: 'dnz' },
        { ...config, name: 'other', trustedKeys: ['C'.repeat(40)] },
      ]
      await write(
        { requireSignature: true, trustedKeys: [key] },
        { providerConfigs, moduleConfigs: [] },
      )
      await scene().run()
      const synced = (name: string) => scene().status('Version', name).synced === true
      expect(synced('dns-1-0-0-linux-amd64')).toBe(true)
      expect(synced('dns-1-1-0-linux-amd64')).toBe(false)
      expect(synced('dnz-1-0-0-linux-amd64')).toBe(false)
      const items = scene().status('Depot', 'main').items ?? []
      expect(items.find(({ name }) => name === 'other')?.message).toContain(
        'which those of the policy do not have',
      )
    })
  })
}
