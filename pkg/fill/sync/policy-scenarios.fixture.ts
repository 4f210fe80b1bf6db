import { rm } from 'node:fs/promises'
import { describe, expect, it, vi } from 'vitest'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { refOf } from '../../records/store/store.ts'
import { FillError } from '../sources/sources.ts'
import type { PolicyDecision } from './context.ts'
import { heldBackCount } from './parent/held-back.ts'
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
    const listed = () => scene().listed()
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
        {
          version: 'v1.1.0',
          since: expect.any(String) as string,
          why: 'Denied',
          message: 'denied: stolen',
        },
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

    it('withdraws stored versions that it denies, even while upstream cannot be listed, and gives them back', async () => {
      await begin()
      const version = scene().object('Version', 'vpc-1-1-0')
      const { artifact, ...status } = scene().status('Version', 'vpc-1-1-0')
      const counts = { critical: 1, high: 0, medium: 0, low: 0, unknown: 0 }
      const found = { sha256: artifact?.sha256, scanner: 'trivy 0.70.0', counts }
      const scanned = { ...status, artifact, scan: found, quarantinedBy: [scan] }
      await scene().objects.writeStatus(version, scanned)
      scene().upstream.faults.set(url, new FillError('FetchFailed', 'there is no such host'))
      const event = vi.spyOn(scene().objects, 'event')
      await write({ deny: deny() })
      await eventually(() =>
        expect(withdrawn()).toEqual([
          scan,
          {
            by: 'UpstreamPolicy',
            owner: 'Depot',
            message: expect.stringMatching(
              /^denied: stolen \(policy of Depot \S+\/main, whose editors can except it\)$/,
            ) as string,
            since: expect.any(String) as string,
          },
        ]),
      )
      await scene().idle()
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
      await scene().idle()
      expect(lifted).toHaveBeenCalledWith(expect.objectContaining({ reason: 'QuarantineLifted' }))
    })

    it('withdraws a version even while somebody else changes its spec', async () => {
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

    const denyStored = async () => {
      await begin()
      await write({ deny: deny() })
      await eventually(() => expect(withdrawn()).toHaveLength(1))
    }
    const labels = () => scene().object('Module', 'vpc').metadata.labels

    it('keeps what it withdrew when its config or Depot goes, until a Depot decides', async () => {
      await denyStored()
      await write({ deny: deny() }, { moduleConfigs: [] })
      await eventually(() => expect(labels()['depot.internal/depot']).toBeUndefined())
      await scene().run()
      expect(withdrawn()).toHaveLength(1)
      const { namespace } = scene()
      const annotations = { 'depot.internal/adopt': 'main' }
      await scene().objects.patch(
        { kind: 'Module', namespace, name: 'vpc' },
        { metadata: { annotations } },
      )
      await write(undefined)
      await eventually(() => expect(withdrawn()).toBeUndefined())
      await write({ deny: deny() })
      await eventually(() => expect(withdrawn()).toHaveLength(1))
      await scene().remove('Depot', 'main')
      await eventually(() => expect(labels()['depot.internal/depot']).toBeUndefined())
      await scene().run()
      expect(withdrawn()).toHaveLength(1)
      expect(await scene().stored()).toHaveLength(2)
    })

    it('judges what is stored by the source that it came from', async () => {
      await denyStored()
      const moved = 'https://git.test/fork.git'
      const source = { type: 'git', url: moved }
      const moduleConfigs = [{ name: 'vpc', source, immutable: true }]
      const states = () => [withdrawn('vpc-1-0-0')?.length, withdrawn()?.length]
      // A source that cannot be listed yet, and that is denied.
      const fork = { address: 'git.test/fork', reason: 'a fork' }
      scene().upstream.faults.set(moved, new FillError('FetchFailed', 'there is no such host'))
      await write({ deny: [...deny(), fork] }, { moduleConfigs })
      await eventually(() => expect(condition('Ready')).toMatchObject({ status: 'False' }))
      await scene().idle()
      expect(states()).toEqual([undefined, 1])
      // And one that can.
      scene().upstream.faults.clear()
      scene().upstream.repository(moved, { 'v1.0.0': 'other', 'v1.1.0': 'other' })
      await write({ deny: deny() }, { moduleConfigs })
      const config = () =>
        scene().object('Module', 'vpc').spec as { moduleConfig: { source: { url: string } } }
      await eventually(() => expect(config().moduleConfig.source.url).toBe(moved))
      await later(day)
      expect(states()).toEqual([undefined, 1])
      expect(scene().status('Version', 'vpc-1-1-0').artifact?.address).toBe(address)
      await write({ deny: [...deny(), fork] }, { moduleConfigs })
      await later(day)
      expect(states()).toEqual([undefined, 1])
    })

    it('withdraws what a former source gave, even where the new one never had it', async () => {
      await begin()
      const fork = 'https://git.test/fork.git'
      scene().upstream.repository(fork, { 'v1.0.0': 'v1.0.0', 'v2.0.0': 'new' })
      const moduleConfigs = [{ name: 'vpc', source: { type: 'git', url: fork }, immutable: true }]
      await write(undefined, { moduleConfigs })
      await later(day)
      const kept = () => scene().status('Version', 'vpc-1-1-0')
      expect([kept().upstream, kept().artifact?.address]).toEqual(['Gone', address])
      await later(day)
      expect(kept().artifact?.address).toBe(address)
      await write({ deny: deny() }, { moduleConfigs })
      await later(day)
      expect(withdrawn()).toMatchObject([{ owner: 'Depot' }])
      await write(undefined, { moduleConfigs })
      await later(day)
      expect(withdrawn()).toBeUndefined()
    })

    it('leaves what it withdrew while nobody knows its source', async () => {
      await denyStored()
      await scene().idle()
      const version = scene().object('Version', 'vpc-1-1-0')
      const { address: _, ...artifact } = scene().status('Version', 'vpc-1-1-0').artifact ?? {}
      const status = { ...scene().status('Version', 'vpc-1-1-0'), artifact }
      const module = vi.spyOn(scene().upstream, 'module').mockImplementation(() => {
        throw new FillError('InvalidSpec', 'the host git.test is not in --upstream-hosts')
      })
      await scene().objects.writeStatus(version, status)
      await later(day)
      expect(scene().condition('Depot', 'main', 'Ready')).toMatchObject({ status: 'False' })
      expect(withdrawn()).toHaveLength(1)
      module.mockRestore()
    })

    it('withdraws a denied version again that a person deletes', async () => {
      await denyStored()
      await scene().idle()
      const { uid, namespace, name } = scene().object('Version', 'vpc-1-1-0').metadata
      const seen: (readonly boolean[])[] = []
      const forget = scene().objects.onChange(() => {
        const known = scene().objects.get('Version', namespace, name)
        const { artifact, quarantinedBy } = (known?.status ?? {}) as ReturnType<Scene['status']>
        seen.push([artifact !== undefined, quarantinedBy !== undefined])
      })
      await scene().objects.delete({ kind: 'Version', namespace, name }, { uid })
      const isNew = ([isStored]: readonly boolean[]) => isStored === false
      await eventually(() => {
        expect(seen.findLastIndex(([isStored]) => isStored)).toBeGreaterThan(seen.findIndex(isNew))
        expect(seen.some(isNew)).toBe(true)
      })
      forget()
      expect(seen).not.toContainEqual([true, false])
    })

    it('withdraws a platform of a denied version that comes later', async () => {
      const provider = (...platforms: readonly string[]) =>
        scene().upstream.provider('acme/dns', { '1.0.0': { platforms } })
      const providerConfigs = [{ name: 'dns', namespace: 'acme', signature: 'IfPresent' }]
      const rule = { address: 'registry.test/acme/dns', reason: 'stolen' }
      provider('linux/amd64')
      await write(undefined, { providerConfigs })
      await scene().run()
      provider('linux/amd64', 'linux/arm64')
      await write({ deny: [rule] }, { providerConfigs })
      await later(day)
      await eventually(() =>
        expect(scene().status('Version', 'dns-1-0-0-linux-arm64').synced).toBe(true),
      )
      expect(withdrawn('dns-1-0-0-linux-arm64')).toHaveLength(1)
      expect(withdrawn('dns-1-0-0-linux-amd64')).toHaveLength(1)
    })

    it('asks for no dates if no age counts', async () => {
      upstream('v1.0.0')
      const dates = vi.spyOn(scene().upstream.dates, 'get')
      await write({ deny: deny() })
      await scene().run()
      expect(listed()).toEqual(['v1.0.0'])
      expect(dates).not.toHaveBeenCalled()
    })

    it('remembers as many held versions as a status can hold', async () => {
      const all = Array.from({ length: 400 }, (_, n) => `v1.${n}.0`)
      await begin({ deny: [{ address, reason: 'ü'.repeat(1000) }] })
      upstream(...all)
      await later(day)
      expect(heldBack()?.length).toBeGreaterThan(50)
      expect(Buffer.byteLength(JSON.stringify(heldBack()))).toBeLessThan(210_000)
      const unlisted = 400 - (heldBack()?.length ?? 0)
      const before = condition('HeldBack')?.message
      expect(before).toContain(`${unlisted} more, which do not fit into the status`)
      // The count is the whole one even where nobody asks upstream.
      const { listing } = scene().status('Module', 'vpc')
      expect(listing?.heldBackCount).toBe(400)
      expect(heldBackCount(scene().objects)).toBe(400)
      await scene().run()
      expect(condition('HeldBack')?.message).toBe(before)
    })

    it('keeps in a full status what comes in by itself, and stores it without a poll', async () => {
      const all = Array.from({ length: 400 }, (_, n) => `v1.${n}.0`)
      await begin({ minimumAge: '1h', allow: [{ address, versions: '< 2.0.0', reason: 'ok' }] })
      upstream('v1.0.0', 'v1.1.0', ...all.map((tag) => tag.replace('v1', 'v2')), 'v1.0.1')
      await later(day)
      const reason = 'ü'.repeat(1000)
      await write({ minimumAge: '1h', deny: [{ address, versions: '>= 2.0.0', reason }] })
      await scene().run()
      expect(scene().status('Module', 'vpc').listing?.heldBackCount).toBe(401)
      expect(heldBack()?.[0]).toMatchObject({ version: 'v1.0.1', why: 'TooYoung' })
      scene().aheadMs += 3_600_000
      await scene().run()
      expect(listed()).toContain('v1.0.1')
    })

    it('says which exceptions name nothing that upstream has, until they do', async () => {
      const exception = { address, version: '1.1.0', reason: 'ok', by: 'Ann' }
      const typo = { ...exception, version: '1.10.0' }
      const elsewhere = { ...exception, address: 'git.test/vcp' }
      await begin({ minimumAge: '7d', exceptions: [exception] })
      expect(condition('ExceptionUnknown')).toBeUndefined()
      await write({ minimumAge: '7d', exceptions: [exception, typo, elsewhere] })
      await eventually(() =>
        expect(condition('ExceptionUnknown')).toMatchObject({
          status: 'True',
          message: expect.stringMatching(
            /\(2\): 1\.10\.0 of git\.test\/vpc \(by Ann; upstream has no such version\), 1\.1\.0 of git\.test\/vcp \(by Ann; no config has this address\)/,
          ) as string,
        }),
      )
      // Nobody knows what an upstream has that does not answer.
      scene().upstream.faults.set(url, new FillError('FetchFailed', 'there is no such host'))
      upstream('v1.0.0', 'v1.1.0', 'v1.10.0')
      await later(day)
      expect(condition('ExceptionUnknown')?.message).toContain('1.10.0')
      scene().upstream.faults.clear()
      await write({ minimumAge: '7d', exceptions: [exception, typo] })
      await eventually(() => expect(condition('ExceptionUnknown')).toBeUndefined())
      await write(undefined)
      await eventually(() => expect(heldBack()).toBeUndefined())
    })

    it('says it exactly while another config of the Depot fails', async () => {
      const other = 'https://git.test/eks.git'
      const known = { address, version: '1.1.0', reason: 'ok', by: 'Ann' }
      const typo = { ...known, version: '1.10.0' }
      const there = { ...known, address: 'git.test/eks', version: '2.0.0' }
      const missing = { ...there, version: '9.0.0' }
      const moduleConfigs = [
        { name: 'vpc', source: { type: 'git', url } },
        { name: 'eks', source: { type: 'git', url: other } },
      ]
      const unknown = () => scene().status('Depot', 'main').unknownExceptions
      const named = (...all: readonly (typeof known)[]) =>
        all.map((one) => ({ address: one.address, version: one.version }))
      const down = new FillError('FetchFailed', 'there is no such host')
      const withExceptions = (...exceptions: readonly object[]) =>
        write({ deny: deny(), exceptions }, { moduleConfigs })
      upstream('v1.0.0', 'v1.1.0')
      scene().upstream.repository(other, { 'v1.0.0': 'a', 'v2.0.0': 'b' })
      // From the start, nobody knows what eks has.
      scene().upstream.faults.set(other, down)
      await withExceptions(known, typo, there, missing)
      await scene().run()
      expect(unknown()).toEqual(named(typo))
      expect(condition('ExceptionUnknown')?.message).toContain('1.10.0 of git.test/vpc')
      scene().upstream.faults.clear()
      await later(day)
      expect(unknown()).toEqual(named(typo, missing))
      // It keeps what it knew, and decides about what answers.
      scene().upstream.faults.set(other, down)
      await withExceptions(known, there, missing)
      await eventually(() => expect(unknown()).toEqual(named(missing)))
      expect(condition('ExceptionUnknown')?.message).not.toContain('1.10.0')
      await withExceptions(known, there)
      await eventually(() => expect(condition('ExceptionUnknown')).toBeUndefined())
      expect(unknown()).toBeUndefined()
    })

    it('calls no exception unknown that gives back what is stored from a former source', async () => {
      const exceptions = [{ address, version: '1.0.0', reason: 'ok', by: 'Ann' }]
      await begin()
      const now = 'https://git.test/network'
      scene().upstream.repository(now, { 'v1.0.0': 'other', 'v1.1.0': 'v1.1.0' })
      const source = { type: 'git', url: now }
      const spec = { moduleConfigs: [{ name: 'vpc', source, immutable: true }] }
      await write({ deny: deny({ versions: '1.0.0' }), exceptions }, spec)
      await later(day)
      expect(scene().status('Version', 'vpc-1-0-0').artifact?.address).toBe(address)
      expect(withdrawn('vpc-1-0-0')).toBeUndefined()
      expect(condition('ExceptionUnknown')).toBeUndefined()
    })

    it('says once who excepted a version, also one that was withdrawn', async () => {
      const audit = vi.fn<(decision: PolicyDecision) => void>()
      const exceptions = [{ address, version: '1.1.0', reason: 'CVE-1', by: 'Ann' }]
      const decisions = () => audit.mock.calls.map(([decision]) => decision)
      const decision = { address, version: '1.1.0', by: 'Ann', reason: 'CVE-1' }
      upstream('v1.0.0', 'v1.1.0')
      const fault = new FillError('NotAnArchive', 'it is a page')
      scene().upstream.faults.set(`fetch ${url} v1.1.0`, fault)
      await write({ deny: deny(), exceptions })
      // It cannot be stored, and is decided once all the same.
      await scene().run({ audit })
      scene().aheadMs += day
      await scene().run({ audit, pollAtStart: true })
      expect(scene().names('Version')).toContain('vpc-1-1-0')
      expect(decisions()).toMatchObject([{ ...decision, object: { kind: 'Depot', name: 'main' } }])
      scene().upstream.faults.clear()
      scene().aheadMs += day
      await scene().run({ audit, pollAtStart: true })
      expect(scene().status('Version', 'vpc-1-1-0').synced).toBe(true)
      await write({ deny: deny() })
      await eventually(() => expect(withdrawn()).toHaveLength(1))
      expect(decisions()).toHaveLength(1)
      await write({ deny: deny(), exceptions })
      await eventually(() => expect(withdrawn()).toBeUndefined())
      expect(decisions().slice(1)).toMatchObject([{ ...decision, object: { kind: 'Version' } }])
      // An exception from an age has no effect on what is no longer denied.
      await write({ deny: deny() })
      await eventually(() => expect(withdrawn()).toHaveLength(1))
      audit.mockClear()
      await write({ minimumAge: '7d', deny: deny({ versions: '9.9.9' }), exceptions })
      await eventually(() => expect(withdrawn()).toBeUndefined())
      await scene().stop()
      expect(decisions()).toEqual([])
    })

    it('says who excepted a version before it is served again, so that a kill between hides nobody', async () => {
      await begin()
      await write({ deny: deny() })
      await eventually(() => expect(withdrawn()).toHaveLength(1))
      const steps: string[] = []
      await scene().run({ audit: ({ by }) => steps.push(`excepted by ${by}`) })
      const { objects } = scene()
      const writeStatus = objects.writeStatus.bind(objects)
      vi.spyOn(objects, 'writeStatus').mockImplementation((object, status, options) => {
        const { quarantinedBy } = status as { quarantinedBy?: unknown }
        const isServed = object.metadata.name === 'vpc-1-1-0' && quarantinedBy === undefined
        if (isServed) steps.push('served')
        return writeStatus(object, status, options)
      })
      const exceptions = [{ address, version: '1.1.0', reason: 'CVE-1', by: 'Ann' }]
      await write({ deny: deny(), exceptions })
      await eventually(() => expect(withdrawn()).toBeUndefined())
      expect(steps.slice(0, 2)).toEqual(['excepted by Ann', 'served'])
    })

    it('writes it to the log even if that has warnings only', async () => {
      const lines: string[] = []
      const log = createLogger('warn', { write: (line) => lines.push(line) })
      const exceptions = [{ address, version: '1.1.0', reason: 'CVE-1', by: 'Ann' }]
      upstream('v1.0.0', 'v1.1.0')
      await write({ deny: deny(), exceptions })
      await scene().run({ log })
      const audited = lines.map((line) => JSON.parse(line) as { msg: string })
      expect(audited.filter(({ msg }) => msg === 'audit')).toMatchObject([
        {
          outcome: 'excepted',
          resource: `Depot ${scene().namespace}/main`,
          address,
          version: '1.1.0',
          by: 'Ann',
          reason: 'CVE-1',
        },
      ])
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

    it('lets in only what its rule is true for, and takes nothing back that is stored', async () => {
      const rule = { expression: 'upstream.version != "1.1.0"', reason: 'not checked yet' }
      await begin({ rule })
      expect(listed()).toEqual(['v1.0.0'])
      expect(heldBack()?.[0]?.message).toBe('refused by the rule: not checked yet')
      await write({ rule: { ...rule, expression: 'upstream.name == "vpc"' } })
      await eventually(() => expect(listed()).toEqual(['v1.1.0', 'v1.0.0']))
      await eventually(() => expect(scene().status('Version', 'vpc-1-1-0').synced).toBe(true))
      await write({ rule: { ...rule, expression: 'false' } })
      await eventually(() => expect(condition('HeldBack')).toBeUndefined())
      expect(listed()).toEqual(['v1.1.0', 'v1.0.0'])
      expect(withdrawn()).toBeUndefined()
    })

    it('says that an archive is lost whose tag moved to content that is too young', async () => {
      await begin({ minimumAge: '1d' })
      await later(2 * day)
      expect(listed()).toContain('v1.0.0')
      await rm(`${scene().storage}/depot`, { recursive: true })
      scene().upstream.repository(url, { 'v1.0.0': 'moved', 'v1.1.0': 'v1.1.0' })
      await scene().run({ pollAtStart: true, verifyAtStart: 'look' })
      const state = (type: string) => scene().condition('Version', 'vpc-1-0-0', type)
      await eventually(() => expect(state('Ready')).toMatchObject({ reason: 'ArchiveLost' }))
      expect(state('Ready')?.message).toContain('too young: delete the Version')
      expect(state('Stored')).toMatchObject({ status: 'False' })
    })

    it('lets a rule decide by the licence of a module', async () => {
      upstream('v1.0.0', 'v1.1.0')
      const rule = { expression: 'upstream.licence in ["MIT"]', reason: 'licence' }
      await write({ rule })
      await scene().run()
      expect(listed()).toEqual([])
      expect(heldBack()).toMatchObject([{ why: 'Refused' }, { why: 'Refused' }])
      scene().upstream.licences.set(url, 'MIT')
      await later(day)
      expect(listed()).toEqual(['v1.1.0', 'v1.0.0'])
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
