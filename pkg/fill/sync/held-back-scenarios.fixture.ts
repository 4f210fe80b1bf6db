import { describe, expect, it, vi } from 'vitest'
import type { Timers } from '../queue/queue.ts'
import { FillError } from '../sources/sources.ts'
import { heldBackCount } from './parent/held-back.ts'
import { eventually, storageConfig, url } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const hour = 3_600_000
const day = 24 * hour
const tags = (...all: readonly string[]) => Object.fromEntries(all.map((tag) => [tag, tag]))
const old = ['v1.0.0', 'v1.0.1', 'v1.0.2', 'v1.0.3', 'v1.0.4'] as const

/** Scenarios in which versions are too young for the policy of a Depot. */
export function heldBackScenarios(scene: () => Scene): void {
  describe('a minimum age', () => {
    const write = (config: object = {}, spec: object = {}) =>
      scene().write('Depot', 'main', {
        global: { storageConfig, moduleConfig: { provider: 'aws' } },
        moduleConfigs: [{ name: 'vpc', source: { type: 'git', url }, ...config }],
        policy: { minimumAge: '7d' },
        ...spec,
      })
    const upstream = (...all: readonly string[]) => scene().upstream.repository(url, tags(...all))
    /** Starts the reconcilers again after some time, and polls. */
    const later = async (ms: number) => {
      scene().aheadMs += ms
      await scene().run({ pollAtStart: true })
    }
    const listed = () => scene().listed()
    const heldBack = () => scene().status('Module', 'vpc').listing?.heldBack
    const condition = () => scene().condition('Depot', 'main', 'HeldBack')
    const now = () => Date.now() + scene().aheadMs
    /** A Depot whose first list is a week old, so that everything in it is stored. */
    const begin = async (config: object = {}) => {
      upstream(...old)
      await write(config)
      await scene().run()
      await later(7 * day)
      expect(await scene().stored()).toHaveLength(old.length)
      expect(heldBack()).toBeUndefined()
    }

    it('trusts the first list except for the newest versions, and stores those when they are old', async () => {
      upstream('v0.9.0', ...old)
      await write()
      await scene().run()
      expect(listed()).toEqual(['v1.0.1', 'v1.0.0'])
      expect(heldBack()?.map(({ version }) => version)).toEqual([
        'v1.0.4',
        'v1.0.3',
        'v1.0.2',
        'v0.9.0',
      ])
      expect(condition()).toMatchObject({
        status: 'True',
        reason: 'HeldBack',
        message: expect.stringMatching(
          /^too young for the policy \(4\): vpc v1\.0\.4 \(git\.test\/vpc\) until 20/,
        ) as string,
      })
      expect(scene().condition('Depot', 'main', 'Ready')).toMatchObject({ status: 'True' })
      expect(heldBackCount(scene().objects)).toBe(4)
      await later(7 * day)
      expect(await scene().stored()).toHaveLength(6)
      expect(condition()).toBeUndefined()
      expect(heldBackCount(scene().objects)).toBe(0)
    })

    it('trusts nothing of the first list if the policy says so', async () => {
      upstream(...old)
      await write({}, { policy: { minimumAge: '7d', trustFirstListing: false } })
      await scene().run()
      expect(listed()).toEqual([])
      expect(heldBack()).toHaveLength(old.length)
    })

    it('counts from when a version was first seen, even after restarts', async () => {
      await begin()
      upstream(...old, 'v1.1.0')
      await later(hour)
      const until = heldBack()?.[0]?.until ?? ''
      expect(Math.abs(Date.parse(until) - now() - 7 * day)).toBeLessThan(hour)
      await later(6 * day)
      expect(heldBack()).toMatchObject([{ version: 'v1.1.0', until }])
      expect(listed()).toHaveLength(old.length)
      await later(day)
      expect(listed()[0]).toBe('v1.1.0')
      expect(await scene().stored()).toHaveLength(old.length + 1)
    })

    it('ends at the moment when a version is old enough, without a poll', async () => {
      const waiting = new Set<{ readonly dueMs: number; readonly call: () => void }>()
      const timers: Timers = {
        now: () => performance.now() + scene().aheadMs,
        after(delayMs, call) {
          const one = { dueMs: timers.now() + delayMs, call }
          waiting.add(one)
          const timer = setTimeout(call, delayMs)
          return () => {
            clearTimeout(timer)
            waiting.delete(one)
          }
        },
      }
      await begin()
      upstream(...old, 'v1.1.0')
      scene().aheadMs += hour
      await scene().run({ pollAtStart: true, timers })
      expect(listed()).toHaveLength(old.length)
      scene().aheadMs += 7 * day
      for (const { dueMs, call } of waiting) if (dueMs <= timers.now()) call()
      await eventually(async () => expect(await scene().stored()).toHaveLength(old.length + 1))
      await eventually(() => expect(condition()).toBeUndefined())
    })

    it('begins again for a version that changed before it was stored', async () => {
      await begin()
      upstream(...old, 'v1.1.0')
      await later(hour)
      await later(6 * day)
      scene().upstream.repository(url, { ...tags(...old), 'v1.1.0': 'other' })
      await later(day)
      expect(listed()).toHaveLength(old.length)
      expect(Date.parse(heldBack()?.[0]?.until ?? '') - now()).toBeGreaterThan(6 * day)
    })

    it('stores nothing of a tag that moved after the list from which its version came in', async () => {
      await begin()
      upstream(...old, 'v1.1.0')
      await later(hour)
      // The list of the poll has the old commit. When the Version asks, the tag has moved.
      const module = scene().upstream.module.bind(scene().upstream)
      let isMoved = false
      vi.spyOn(scene().upstream, 'module').mockImplementation((origin) => {
        const source = module(origin)
        return {
          ...source,
          resolve: (version, options) => {
            if (!isMoved && version.endsWith('1.1.0')) {
              isMoved = true
              scene().upstream.repository(url, { ...tags(...old), 'v1.1.0': 'stolen' })
            }
            return source.resolve(version, options)
          },
        }
      })
      await later(7 * day)
      await eventually(() => expect(heldBack()?.map((one) => one.version)).toEqual(['v1.1.0']))
      expect(isMoved).toBe(true)
      expect(Date.parse(heldBack()?.[0]?.until ?? '') - now()).toBeGreaterThan(6 * day)
      await eventually(() => expect(scene().names('Version')).toHaveLength(old.length))
      expect(await scene().stored()).toHaveLength(old.length)
      expect(scene().upstream.asked).not.toContain(`fetch ${url} v1.1.0`)
      await later(7 * day)
      expect(await scene().stored()).toHaveLength(old.length + 1)
    })

    it('stores no content that a poll found moved while its Version waited', async () => {
      await begin()
      upstream(...old, 'v1.1.0')
      await later(hour)
      scene().upstream.faults.set(
        `resolve ${url} v1.1.0`,
        new FillError('FetchFailed', 'there is no such host'),
      )
      await later(7 * day)
      expect(scene().names('Version')).toContain('vpc-1-1-0')
      scene().upstream.repository(url, { ...tags(...old), 'v1.1.0': 'stolen' })
      scene().upstream.faults.clear()
      await later(hour)
      await eventually(() => expect(scene().names('Version')).toHaveLength(old.length))
      expect(await scene().stored()).toHaveLength(old.length)
      expect(heldBack()?.map((one) => one.version)).toEqual(['v1.1.0'])
    })

    it.each([undefined, true])(
      'still reports at once that a tag of a stored version moved, with immutable: %s',
      async (immutable) => {
        await begin(immutable === undefined ? {} : { immutable })
        const { artifact } = scene().status('Version', 'vpc-1-0-2')
        scene().upstream.repository(url, { ...tags(...old), 'v1.0.2': 'stolen' })
        await later(hour)
        const drifted = () => scene().condition('Version', 'vpc-1-0-2', 'Drifted')
        await eventually(() => expect(drifted()).toMatchObject({ status: 'True' }))
        expect(scene().status('Version', 'vpc-1-0-2').artifact).toEqual(artifact)
      },
    )

    it('lets a module move to another source without its young content, and without asking for ever', async () => {
      await begin()
      const fork = 'https://git.test/fork.git'
      const before = scene().status('Version', 'vpc-1-0-4').artifact
      const text = (tag: string) => [tag, `fork ${tag}`] as const
      scene().upstream.repository(fork, Object.fromEntries(old.map(text)))
      await write({ source: { type: 'git', url: fork } })
      await eventually(() =>
        expect(scene().status('Version', 'vpc-1-0-0').artifact?.address).toBe('git.test/fork'),
      )
      scene().upstream.repository(fork, {
        ...Object.fromEntries(old.map(text)),
        'v1.0.4': 'stolen',
      })
      scene().upstream.asked.length = 0
      await later(hour)
      const polls = scene().upstream.asked.filter((what) => what === `list ${fork}`)
      expect(polls.length).toBeLessThan(5)
      expect(before?.address).toBe('git.test/vpc')
      expect(JSON.stringify(scene().upstream.asked)).not.toContain(`fetch ${fork} v1.0.4`)
    })

    it('also holds the new content of a version that follows its tag', async () => {
      await begin({ immutable: false })
      const digest = () => scene().status('Version', 'vpc-1-0-4').artifact?.contentDigest
      const before = digest()
      const drifted = () => scene().condition('Version', 'vpc-1-0-4', 'Drifted')
      scene().upstream.repository(url, { ...tags(...old), 'v1.0.4': 'other' })
      await later(hour)
      expect(digest()).toBe(before)
      expect(drifted()).toMatchObject({
        status: 'True',
        message: expect.stringMatching(
          /^git\.test\/vpc has other content under v1\.0\.4 than .* still served\. The new content is stored once it is old enough, too \(20.*Z\)$/,
        ) as string,
      })
      await later(7 * day)
      expect(digest()).not.toBe(before)
      expect(drifted()).toMatchObject({ status: 'False' })
    })

    it('cuts the list before constraints and limits choose', async () => {
      upstream(...old)
      await write({ versionConstraints: '~> 1.0', versionHistoryLimit: 2 })
      await scene().run()
      expect(listed()).toEqual(['v1.0.1', 'v1.0.0'])
      await later(7 * day)
      expect(listed()).toEqual(['v1.0.4', 'v1.0.3'])
      upstream(...old, 'v1.1.0', 'v2.0.0')
      await later(hour)
      expect(listed()).toEqual(['v1.0.4', 'v1.0.3'])
      expect(heldBack()?.map(({ version }) => version)).toEqual(['v1.1.0'])
    })

    it('takes back nothing that is stored when it is raised, and nothing is left of it when it goes', async () => {
      await begin()
      upstream(...old, 'v1.1.0')
      const moduleConfig = { provider: 'aws' }
      const global = { storageConfig, moduleConfig, policy: { minimumAge: '30d' } }
      await write({}, { global })
      await scene().run()
      expect(await scene().stored()).toHaveLength(old.length)
      expect(Date.parse(heldBack()?.[0]?.until ?? '') - now()).toBeGreaterThan(29 * day)
      await write({}, { policy: undefined })
      await scene().run()
      expect(await scene().stored()).toHaveLength(old.length + 1)
      expect(heldBack()).toBeUndefined()
      expect(condition()).toBeUndefined()
    })
    it('counts from when the host says that a version was published, but never from before a list without it', async () => {
      const at = (ms: number) => new Date(now() - ms).toISOString()
      upstream('v1.0.0', 'v1.1.0')
      scene().upstream.dates.set(url, { 'v1.0.0': at(30 * day), 'v1.1.0': at(6 * day) })
      await write()
      await scene().run()
      expect(listed()).toEqual(['v1.0.0'])
      await later(day)
      expect(listed()).toEqual(['v1.1.0', 'v1.0.0'])
      upstream('v1.0.0', 'v1.1.0', 'v1.2.0')
      scene().upstream.dates.set(url, { 'v1.2.0': at(30 * day) })
      await later(2 * day)
      expect(listed()).toEqual(['v1.1.0', 'v1.0.0'])
      await later(5 * day + hour)
      expect(listed()[0]).toBe('v1.2.0')
    })

    it('lets in exactly the version of an exception, and says who decided it', async () => {
      await begin()
      upstream(...old, 'v1.1.0', 'v1.2.0')
      await later(hour)
      expect(heldBack()).toHaveLength(2)
      const event = vi.spyOn(scene().objects, 'event')
      const exception = {
        address: 'git.test/vpc',
        version: '1.1.0',
        reason: 'CVE-2026-1',
        by: 'Ann',
      }
      await write({}, { policy: { minimumAge: '7d', exceptions: [exception] } })
      await eventually(async () => expect(await scene().stored()).toHaveLength(old.length + 1))
      const note = expect.stringMatching(
        /vpc 1\.1\.0 .* the exception of Ann: CVE-2026-1/,
      ) as string
      expect(event).toHaveBeenCalledWith(expect.objectContaining({ reason: 'Excepted', note }))
      expect(listed()[0]).toBe('v1.1.0')
      expect(heldBack()?.map(({ version }) => version)).toEqual(['v1.2.0'])
    })

    it('takes nothing of an exception that is removed while its version is fetched', async () => {
      await begin()
      upstream(...old, 'v1.1.0')
      const exceptions = [
        { address: 'git.test/vpc', version: '1.1.0', reason: 'urgent', by: 'Ann' },
      ]
      const { promise, resolve } = Promise.withResolvers<void>()
      scene().upstream.delays.set(url, promise)
      await write({}, { policy: { minimumAge: '7d', exceptions } })
      scene().aheadMs += hour
      const sync = await scene().begin({ pollAtStart: true })
      await eventually(() => expect(scene().upstream.asked).toContain(`fetch ${url} v1.1.0`))
      await write()
      await eventually(() => expect(listed()).not.toContain('v1.1.0'))
      resolve()
      await sync.idle()
      await eventually(() => expect(scene().names('Version')).toHaveLength(old.length))
      expect(heldBack()?.map(({ version }) => version)).toEqual(['v1.1.0'])
      await later(2 * day)
      expect(await scene().stored()).toHaveLength(old.length)
    })

    it.each([
      ['of the module', ['Module']],
      ['of all objects', ['Depot', 'Module', 'Version']],
    ] as const)('takes nothing back after a restore without the statuses %s', async (_, kinds) => {
      await begin()
      upstream(...old, 'v1.1.0')
      await later(hour)
      const { namespace } = scene()
      const uids = () =>
        scene()
          .objects.list('Version', { namespace })
          .map(({ metadata }) => metadata.uid)
          .toSorted()
      const before = uids()
      for (const kind of kinds) {
        for (const object of scene().objects.list(kind, { namespace })) {
          await scene().objects.writeStatus(object, {})
        }
      }
      await scene().stop()
      await later(hour)
      expect(listed().toSorted()).toEqual([...old])
      expect(uids()).toEqual(before)
      await eventually(() => {
        for (const name of scene().names('Version'))
          expect(scene().status('Version', name).synced).toBe(true)
      })
      expect(heldBack()?.map(({ version }) => version)).toEqual(['v1.1.0'])
      await later(7 * day)
      expect(listed()[0]).toBe('v1.1.0')
    })

    it('survives a status with malformed times', async () => {
      await begin()
      upstream(...old, 'v1.1.0')
      await later(hour)
      const module = scene().object('Module', 'vpc')
      const { listing } = scene().status('Module', 'vpc')
      await scene().objects.writeStatus(module, {
        ...(module.status as object),
        listing: {
          ...listing,
          seen: [{ since: 'yesterday', versions: ['1.1.0'] }],
          heldBack: [{ version: 'v1.1.0', until: 'tomorrow' }],
        },
      })
      await later(hour)
      expect(scene().condition('Depot', 'main', 'Ready')).toMatchObject({ status: 'True' })
      expect(heldBack()).toHaveLength(1)
      await later(7 * day)
      expect(await scene().stored()).toHaveLength(old.length + 1)
    })

    it('is forgotten by a module that its Depot releases', async () => {
      await begin()
      upstream(...old, 'v1.1.0')
      await later(hour)
      expect(heldBackCount(scene().objects)).toBe(1)
      await scene().write('Depot', 'main', {
        global: { storageConfig },
        policy: { minimumAge: '7d' },
        moduleConfigs: [],
      })
      await eventually(() => expect(heldBackCount(scene().objects)).toBe(0))
      expect(await scene().stored()).toHaveLength(old.length)
    })

    it.each([301_000, -301_000])(
      'releases nothing while the clock of upstream is %d ms ahead',
      async (skewMs) => {
        await begin()
        upstream(...old, 'v1.1.0')
        await later(hour)
        upstream(...old, 'v1.1.0', 'v1.2.0')
        scene().upstream.skewMs = skewMs
        await later(7 * day)
        expect(listed()).toHaveLength(old.length)
        expect(condition()?.message).toContain('vpc v1.1.0')
        expect(scene().condition('Depot', 'main', 'ClockSkew')).toMatchObject({ status: 'True' })
        const until = Date.parse(
          heldBack()?.find(({ version }) => version === 'v1.1.0')?.until ?? '',
        )
        expect(until - now()).toBeGreaterThan(0)
        scene().upstream.skewMs = 300_000
        scene().aheadMs += hour
        await scene().run()
        expect(listed()).toHaveLength(old.length + 1)
        expect(scene().condition('Depot', 'main', 'ClockSkew')).toBeUndefined()
        expect(heldBack()?.map(({ version }) => version)).toEqual(['v1.2.0'])
      },
    )

    it('releases nothing by a rule about the age either while clocks differ', async () => {
      upstream('v1.0.0')
      scene().upstream.dates.set(url, { 'v1.0.0': new Date(now() - 3 * hour).toISOString() })
      scene().upstream.skewMs = -6 * hour
      scene().aheadMs += 6 * hour
      const rule = {
        expression: 'upstream.ageHours > 8 or upstream.ageHours == nil',
        reason: 'young',
      }
      await write({}, { policy: { rule } })
      await scene().run()
      expect(listed()).toEqual([])
      expect(heldBack()).toMatchObject([{ version: 'v1.0.0', until: expect.any(String) as string }])
      expect(heldBack()?.[0]).not.toHaveProperty('by')
      scene().upstream.skewMs = 0
      scene().aheadMs -= 6 * hour
      await write({}, { policy: { rule: { ...rule, expression: 'upstream.ageHours > 2' } } })
      await scene().run()
      expect(listed()).toEqual(['v1.0.0'])
    })

    it('trusts a first list of 400 versions except for the newest of each line', async () => {
      upstream(...Array.from({ length: 400 }, (_, n) => `v1.${Math.floor(n / 10)}.${n % 10}`))
      await write({ versionHistoryLimit: 3 })
      await scene().run()
      expect(listed()).toEqual(['v1.39.6', 'v1.39.5', 'v1.39.4'])
      expect(heldBack()?.map(({ version }) => version)).toEqual(['v1.39.9', 'v1.39.8', 'v1.39.7'])
      await scene().run({ pollAtStart: true })
      expect(listed()).toEqual(['v1.39.6', 'v1.39.5', 'v1.39.4'])
      await later(7 * day)
      expect(listed()).toEqual(['v1.39.9', 'v1.39.8', 'v1.39.7'])
    })

    it('remembers a list of 40,000 versions in a status that an API server takes', async () => {
      const many = Array.from({ length: 40_000 }, (_, n) => `v1.${Math.floor(n / 100)}.${n % 100}`)
      upstream(...many)
      await write({ versionConstraints: '1.0.0' })
      await scene().run()
      const { listing } = scene().status('Module', 'vpc')
      expect(JSON.stringify(listing).length).toBeLessThan(900_000)
      const seen = (listing?.seen ?? []).flatMap(({ versions }) => versions)
      expect(seen).toHaveLength(many.length)
      expect(seen.find((text) => text.startsWith('1.399.99'))).toContain('@')
      expect(seen).toContain('1.0.1')
      expect(listed()).toEqual(['v1.0.0'])
    })

    it('holds while the list of upstream cannot be read', async () => {
      await begin()
      upstream(...old, 'v1.1.0')
      await later(hour)
      scene().upstream.faults.set(url, new FillError('FetchFailed', 'there is no such host'))
      await later(7 * day)
      expect(listed()).toHaveLength(old.length)
      expect(condition()).toMatchObject({ status: 'True' })
      scene().upstream.faults.clear()
      await later(hour)
      expect(listed()[0]).toBe('v1.1.0')
    })

    it('counts the age of a provider from when its registry says that it was published', async () => {
      const release = { platforms: ['linux/amd64'] }
      scene().upstream.provider('acme/dns', { '1.0.0': release, '1.0.1': release })
      const at = (ms: number) => new Date(now() - ms).toISOString()
      const published = at(6 * day)
      scene().upstream.dates.set('acme/dns', { '1.0.0': at(8 * day), '1.0.1': published })
      await scene().write('Depot', 'main', {
        global: { storageConfig },
        providerConfigs: [{ name: 'dns', namespace: 'acme', signature: 'IfPresent' }],
        policy: { minimumAge: '7d' },
      })
      await scene().run()
      expect(scene().names('Version')).toEqual(['dns-1-0-0-linux-amd64'])
      const publishedAt = `${published.slice(0, 19)}Z`
      const { listing } = scene().status('Provider', 'dns')
      expect(listing?.heldBack).toMatchObject([{ version: '1.0.1', publishedAt }])
      await later(day)
      expect(scene().names('Version')).toHaveLength(2)
    })

    it('holds versions of providers', async () => {
      const release = { platforms: ['linux/amd64'] }
      scene().upstream.provider('acme/dns', { '1.0.0': release })
      const spec = {
        global: { storageConfig },
        providerConfigs: [{ name: 'dns', namespace: 'acme', signature: 'IfPresent' }],
        policy: { minimumAge: '36h' },
      }
      await scene().write('Depot', 'main', spec)
      await scene().run()
      expect(scene().names('Version')).toEqual([])
      expect(condition()?.message).toContain('dns 1.0.0 (registry.test/acme/dns) until')
      await later(36 * hour)
      expect(scene().names('Version')).toEqual(['dns-1-0-0-linux-amd64'])
    })
  })
}
