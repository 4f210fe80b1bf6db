import { describe, expect, it, vi } from 'vitest'
import { FillError } from '../sources/sources.ts'
import { recentSubstitutions } from './metrics.ts'
import { eventually, storageConfig } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const hour = 3_600_000
const day = 24 * hour
const platforms = ['linux/amd64', 'linux/arm64']
const release = (text = 'first') => ({ platforms, text })

/** Scenarios in which upstream replaces a version that waits until it is old enough, and its list does not tell. */
export function replacedScenarios(scene: () => Scene): void {
  describe('a version of a registry that waits', () => {
    const later = async (ms: number) => {
      scene().aheadMs += ms
      await scene().run({ pollAtStart: true })
    }
    const now = () => Date.now() + scene().aheadMs
    const write = (spec: object) =>
      scene().write('Depot', 'main', {
        global: { storageConfig, moduleConfig: { provider: 'aws' } },
        policy: { minimumAge: '7d' },
        ...spec,
      })
    const provider = (config: object = {}) =>
      write({
        providerConfigs: [{ name: 'dns', namespace: 'acme', signature: 'IfPresent', ...config }],
      })
    const releases = (text?: string) =>
      scene().upstream.provider('acme/dns', { '1.0.0': release(), '1.1.0': release(text) })
    const counted = async () => {
      const text = await scene().metrics.metrics()
      return /^depot_upstream_substitution_total\{kind="Provider"\} (\d+)$/m.exec(text)?.[1] ?? '0'
    }
    const listing = () => scene().status('Provider', 'dns').listing
    const stored = () =>
      scene()
        .names('Version')
        .filter((name) => name.startsWith('dns-1-1-0'))
    const asks = (what: string) => scene().upstream.asked.filter((one) => one === what).length
    const fetched = () => asks('fetch acme/dns 1.1.0')
    /** 1.0.0 is stored, and 1.1.0 was listed an hour ago. */
    const begin = async (config: object = {}) => {
      scene().upstream.provider('acme/dns', { '1.0.0': release() })
      await provider(config)
      await scene().run()
      await later(7 * day)
      expect(scene().names('Version')).toHaveLength(2)
      releases()
      await later(hour)
      expect(listing()?.heldBack).toMatchObject([{ version: '1.1.0' }])
    }

    it('is young again when a poll finds other checksums, which is an alarm', async () => {
      await begin()
      const before = await counted()
      const event = vi.fn<(event: { reason: string; note: string }) => void>()
      scene().through = (objects) => {
        vi.spyOn(objects, 'event').mockImplementation(event)
        return objects
      }
      await later(3 * day)
      expect(event).not.toHaveBeenCalledWith(
        expect.objectContaining({ reason: 'UpstreamSubstitution' }),
      )
      releases('stolen')
      await later(hour)
      const at = listing()?.heldBack?.[0]?.since ?? ''
      expect(Date.parse(listing()?.heldBack?.[0]?.until ?? '') - now()).toBeGreaterThan(6.9 * day)
      expect(listing()?.heldBack).toMatchObject([
        { message: 'upstream replaced it, so its age began again' },
      ])
      expect(listing()?.replaced).toEqual([
        {
          version: '1.1.0',
          at,
          seen: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
          offered: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
        },
      ])
      const alarms = () =>
        event.mock.calls.filter(([{ reason }]) => reason === 'UpstreamSubstitution')
      expect(alarms()).toHaveLength(1)
      expect(alarms()[0]?.[0].note).toContain(
        'registry.test/acme/dns has other content under 1.1.0',
      )
      expect(Number(await counted()) - Number(before)).toBe(1)
      expect(scene().condition('Depot', 'main', 'HeldBack')?.message).toContain(
        'upstream replaced it, so its age began again',
      )
      await later(4 * day)
      expect(alarms()).toHaveLength(1)
      expect(stored()).toEqual([])
      await later(3 * day)
      expect(stored()).toHaveLength(2)
      expect(listing()?.heldBack).toBeUndefined()
    })

    it('is an alarm for an hour even if its process ended before it counted', async () => {
      await begin()
      const counts = () => recentSubstitutions(scene().objects, now())
      expect(counts()).toEqual(new Map(Object.entries({ Module: 0, Provider: 0 })))
      const before = await counted()
      scene().through = (objects) => ({
        ...objects,
        async writeStatus(...args) {
          const written = await objects.writeStatus(...args)
          const { listing: memory } = (args[1] ?? {}) as { listing?: { replaced?: unknown } }
          if (memory?.replaced !== undefined) throw new Error('the process was ended')
          return written
        },
      })
      releases('stolen')
      scene().aheadMs += hour
      await scene().begin({ pollAtStart: true })
      await eventually(() => expect(listing()?.replaced).toHaveLength(1))
      await scene().stop()
      scene().through = undefined
      await later(1000)
      expect(await counted()).toBe(before)
      expect(counts().get('Provider')).toBe(1)
      expect(await scene().metrics.metrics()).toContain(
        'depot_upstream_substitutions_recent{kind="Provider"} 1\n',
      )
      await later(hour)
      expect(counts().get('Provider')).toBe(0)
    })

    it('is not fetched when its bytes changed after the last poll', async () => {
      await begin()
      // The list of the poll that lets it in has the old checksums.
      const real = scene().upstream.provider.bind(scene().upstream)
      vi.spyOn(scene().upstream, 'provider').mockImplementation(((origin: object) => {
        const upstream = real(origin)
        return {
          ...upstream,
          release: (version: string, ...rest: [never, never]) => {
            if (version === '1.1.0')
              real('acme/dns', { '1.0.0': release(), '1.1.0': release('stolen') })
            return upstream.release(version, ...rest)
          },
        }
      }) as typeof real)
      await later(7 * day)
      await eventually(() => expect(listing()?.replaced).toHaveLength(1))
      await eventually(() => expect(stored()).toEqual([]))
      expect(fetched()).toBe(0)
      expect(Date.parse(listing()?.heldBack?.[0]?.until ?? '') - now()).toBeGreaterThan(6.9 * day)
      await later(7 * day)
      await eventually(() => expect(fetched()).toBe(2))
      expect(stored()).toHaveLength(2)
    })

    it.each(['at a poll', 'after the last poll'])(
      'is young again if a rule reads its age, and upstream replaces it %s',
      async (when) => {
        const rule = { expression: 'upstream.ageHours >= 168', reason: 'too young' }
        const config = { name: 'dns', namespace: 'acme', signature: 'IfPresent' }
        scene().upstream.provider('acme/dns', { '1.0.0': release() })
        await write({ policy: { rule }, providerConfigs: [config] })
        await scene().run()
        releases()
        await later(hour)
        await later(6 * day)
        if (when === 'at a poll') releases('stolen')
        const real = scene().upstream.provider.bind(scene().upstream)
        vi.spyOn(scene().upstream, 'provider').mockImplementation(((origin: object) => {
          const upstream = real(origin)
          return {
            ...upstream,
            release: (version: string, ...rest: [never, never]) => {
              if (version === '1.1.0') {
                real('acme/dns', { '1.0.0': release(), '1.1.0': release('stolen') })
              }
              return upstream.release(version, ...rest)
            },
          }
        }) as typeof real)
        await later(day)
        await eventually(() => expect(listing()?.replaced).toHaveLength(1))
        await eventually(() => expect(stored()).toEqual([]))
        expect(scene().names('Version')).toHaveLength(2)
        expect(fetched()).toBe(0)
        await later(6 * day)
        expect(fetched()).toBe(0)
        await later(day)
        await eventually(() => expect(fetched()).toBe(2))
      },
    )

    it('raises the alarm even if upstream has the old bytes again at the next poll', async () => {
      await begin()
      const before = Number(await counted())
      const real = scene().upstream.provider.bind(scene().upstream)
      const spy = vi.spyOn(scene().upstream, 'provider').mockImplementation(((origin: object) => {
        const upstream = real(origin)
        return {
          ...upstream,
          release: async (version: string, ...rest: [never, never]) => {
            const found = await upstream.release(version, ...rest)
            if (version !== '1.1.0') return found
            const shasum = 'f'.repeat(64)
            return { ...found, shasum, revision: `sha256:${shasum}` }
          },
        }
      }) as typeof real)
      await later(7 * day)
      expect(fetched()).toBe(0)
      expect(Number(await counted()) - before).toBe(1)
      const evidence = listing()?.replaced
      expect(evidence).toMatchObject([{ version: '1.1.0' }])
      const names = stored()
      expect(scene().condition('Version', names[0] ?? '', 'Ready')).toMatchObject({
        reason: 'UpstreamChanged',
        message:
          `upstream replaced 1.1.0 after Depot ${scene().namespace}/main had let it in. ` +
          'The new content is stored once it is old enough, too',
      })
      await later(2 * hour)
      await later(2 * hour)
      expect(Number(await counted()) - before).toBe(1)
      expect(listing()?.replaced).toEqual(evidence)
      spy.mockRestore()
      await later(hour)
      await later(day)
      await eventually(() => expect(fetched()).toBe(2))
    })

    it('keeps its age when it is gone for a while, unless it comes back with other bytes', async () => {
      await begin()
      const until = () => listing()?.heldBack?.[0]?.until
      const first = until()
      const gone = () => scene().upstream.provider('acme/dns', { '1.0.0': release() })
      gone()
      await later(hour)
      await later(hour)
      expect(listing()?.heldBack).toBeUndefined()
      releases()
      await later(day)
      expect(until()).toBe(first)
      expect(listing()?.replaced).toBeUndefined()
      gone()
      await later(hour)
      releases('stolen')
      await later(hour)
      expect(listing()?.replaced).toMatchObject([{ version: '1.1.0' }])
      expect(Date.parse(until() ?? '') - now()).toBeGreaterThan(6.9 * day)
    })

    it('is young when it is replaced after the list of its Depot was too long for it', async () => {
      await begin()
      const fault = new FillError('ArchiveTooLarge', 'too large')
      scene().upstream.faults.set('fetch acme/dns 1.1.0', fault)
      await later(8 * day)
      expect(stored()).toHaveLength(2)
      const seen = listing()?.seen?.filter(({ versions }) => !versions.join().startsWith('1.1.0'))
      await scene().objects.writeStatus(scene().object('Provider', 'dns'), {
        ...scene().status('Provider', 'dns'),
        listing: { ...listing(), seen },
      })
      scene().upstream.faults.clear()
      releases('stolen')
      scene().aheadMs += 2 * hour
      const notes: string[] = []
      scene().through = (objects) => ({
        ...objects,
        writeStatus(object, status) {
          if (object.kind === 'Version') notes.push(JSON.stringify(status))
          return objects.writeStatus(object, status)
        },
      })
      await scene().run()
      scene().through = undefined
      expect(notes.join('\n')).toContain(
        `upstream has 1.1.0, which the last list of Depot ${scene().namespace}/main did not have. It is stored when a list has it and it is old enough`,
      )
      await eventually(() => expect(listing()?.heldBack).toMatchObject([{ version: '1.1.0' }]))
      expect(fetched()).toBe(2)
      expect(Date.parse(listing()?.heldBack?.[0]?.until ?? '') - now()).toBeGreaterThan(6.9 * day)
      await later(7 * day)
      await eventually(() => expect(fetched()).toBe(4))
    })

    it('comes in without an alarm although its checksums could not be read at first', async () => {
      scene().upstream.provider('acme/dns', { '1.0.0': release() })
      await provider()
      await scene().run()
      releases()
      const fault = new FillError('UpstreamNotFound', 'nothing was uploaded yet')
      scene().upstream.faults.set('sums acme/dns 1.1.0', fault)
      await later(hour)
      scene().upstream.faults.clear()
      await later(hour)
      await later(6 * day)
      expect(stored()).toEqual([])
      await later(day)
      expect(stored()).toHaveLength(2)
      expect(listing()?.replaced).toBeUndefined()
    })

    it('is young, with two alarms, while two mirrors that differ answer in turns', async () => {
      await begin()
      const before = Number(await counted())
      for (let count = 0; count < 8; count += 1) {
        releases(count % 2 === 0 ? 'other' : 'first')
        await later(2 * day)
      }
      expect(stored()).toEqual([])
      expect(Number(await counted()) - before).toBe(2)
      await later(8 * day)
      expect(stored()).toHaveLength(2)
    })

    it('comes in although its registry lists a platform without an archive', async () => {
      const files = { platforms: ['linux/amd64', 'freebsd/arm'] }
      const real = scene().upstream.provider.bind(scene().upstream)
      vi.spyOn(scene().upstream, 'provider').mockImplementation(((origin: object) => {
        const upstream = real(origin)
        const sums: typeof upstream.sums = async (version, platform, options) => {
          if (platform.os === 'freebsd') {
            throw new FillError('UpstreamNotFound', 'no package for freebsd_arm')
          }
          const all = await upstream.sums(version, platform, options)
          return new Map([...all].filter(([file]) => !file.includes('freebsd')))
        }
        return { ...upstream, sums }
      }) as typeof real)
      real('acme/dns', { '1.0.0': files })
      await write({
        policy: { minimumAge: '7d', trustFirstListing: false },
        providerConfigs: [
          {
            name: 'dns',
            namespace: 'acme',
            signature: 'IfPresent',
            operatingSystems: ['linux'],
          },
        ],
      })
      await scene().run()
      await later(6 * day)
      expect(scene().names('Version')).toEqual([])
      await later(day)
      expect(scene().names('Version')).toEqual(['dns-1-0-0-linux-amd64'])
      await eventually(() =>
        expect(scene().condition('Version', 'dns-1-0-0-linux-amd64', 'Ready')?.status).toBe('True'),
      )
      expect(listing()?.replaced).toBeUndefined()
    })

    it('is young as long as its content cannot be read', async () => {
      await begin()
      scene().upstream.provider('acme/dns', { '1.0.0': release(), '1.2.0': release() })
      const fault = new FillError('UpstreamNotFound', 'nothing was uploaded yet')
      for (const what of ['sums', 'release', 'fetch']) {
        scene().upstream.faults.set(`${what} acme/dns 1.2.0`, fault)
      }
      for (let count = 0; count < 5; count += 1) await later(2 * day)
      expect(listing()?.heldBack).toMatchObject([
        {
          version: '1.2.0',
          message:
            'upstream lists it, and its content cannot be read (linux_amd64: nothing was uploaded yet), so its age has not begun',
        },
      ])
      scene().upstream.faults.clear()
      await later(hour)
      expect(Date.parse(listing()?.heldBack?.[0]?.until ?? '') - now()).toBeGreaterThan(6.9 * day)
      expect(scene().names('Version')).not.toContain('dns-1-2-0-linux-amd64')
      await later(7 * day)
      expect(scene().names('Version')).toContain('dns-1-2-0-linux-amd64')
    })

    it('costs no write at each poll while its content cannot be read', async () => {
      await begin()
      const limited = (time: string) => {
        const fault = new FillError('RateLimited', `registry.test limits requests until ${time}`)
        scene().upstream.faults.set('sums acme/dns 1.2.0', fault)
      }
      scene().upstream.provider('acme/dns', { '1.0.0': release(), '1.2.0': release() })
      limited('2026-11-27T09:00:00Z')
      await later(hour)
      const before = JSON.stringify(scene().status('Provider', 'dns'))
      for (let count = 0; count < 3; count += 1) {
        limited(`2026-11-27T1${count}:00:00Z`)
        await later(hour)
      }
      expect(JSON.stringify(scene().status('Provider', 'dns'))).toBe(before)
      // After an age without an answer, the time when it is free at the latest moves.
      await later(7 * day)
      expect(Date.parse(listing()?.heldBack?.[0]?.until ?? '') - now()).toBeGreaterThan(6.9 * day)
    })

    it('is young when its content is read first, however long nobody looked', async () => {
      await begin()
      scene().upstream.provider('acme/dns', { '1.0.0': release(), '1.2.0': release() })
      const fault = new FillError('UpstreamNotFound', 'nothing was uploaded yet')
      scene().upstream.faults.set('sums acme/dns 1.2.0', fault)
      await later(hour)
      scene().upstream.faults.clear()
      await later(30 * day)
      expect(Date.parse(listing()?.heldBack?.[0]?.until ?? '') - now()).toBeGreaterThan(6.9 * day)
      expect(scene().names('Version')).not.toContain('dns-1-2-0-linux-amd64')
    })

    it('does not disturb other versions if it was let in, was never stored, and vanishes', async () => {
      await begin()
      const fault = new FillError('ArchiveTooLarge', 'too large')
      scene().upstream.faults.set('fetch acme/dns 1.1.0', fault)
      await later(8 * day)
      scene().upstream.provider('acme/dns', { '1.0.0': release() })
      await later(hour)
      expect(scene().condition('Depot', 'main', 'Ready')).toMatchObject({ status: 'True' })
    })

    it('gets a platform that comes after another one was stored, once its content is old enough', async () => {
      await begin()
      await later(7 * day)
      await eventually(() => expect(stored()).toHaveLength(2))
      const isStored = () =>
        scene().condition('Version', 'dns-1-1-0-windows-amd64', 'Ready')?.status === 'True'
      scene().upstream.provider('acme/dns', {
        '1.0.0': release(),
        '1.1.0': { platforms: [...platforms, 'windows/amd64'], text: 'first' },
      })
      await later(hour)
      await later(hour)
      expect(isStored()).toBe(false)
      expect(scene().condition('Version', 'dns-1-1-0-windows-amd64', 'Ready')?.message).toMatch(
        /Depot \S+ has seen this content of 1\.1\.0 since \S+\. It is old enough at \S+, and is stored then/,
      )
      await later(7 * day)
      await later(hour)
      await eventually(() => expect(isStored()).toBe(true))
    })

    it('is asked for once if no config wants it, and for each poll while it waits', async () => {
      await begin({ versionConstraints: '>= 1.0.0' })
      const sums = () => asks('sums acme/dns 1.1.0')
      expect(sums()).toBe(1)
      await later(hour)
      expect(sums()).toBe(2)
      await provider({ versionConstraints: '1.0.0' })
      await later(hour)
      await later(hour)
      expect(sums()).toBeLessThanOrEqual(3)
      const unwanted = sums()
      await later(hour)
      expect(sums()).toBe(unwanted)
      // Its age was counted for what it had then.
      releases('stolen')
      await later(8 * day)
      await provider({ versionConstraints: '>= 1.0.0' })
      await later(hour)
      expect(fetched()).toBe(0)
      expect(stored()).toEqual([])
    })

    it('is young again when a registry of modules names another commit', async () => {
      const url = 'registry.test/acme/vpc/aws'
      const tags = (...all: readonly [string, string][]) =>
        scene().upstream.repository(url, Object.fromEntries(all))
      tags(['1.0.0', 'first'])
      await write({
        moduleConfigs: [{ name: 'vpc', source: { type: 'registry', url }, immutable: true }],
      })
      await scene().run()
      await later(7 * day)
      expect(scene().listed()).toEqual(['1.0.0'])
      tags(['1.0.0', 'first'], ['1.1.0', 'second'])
      await later(hour)
      await later(6 * day)
      tags(['1.0.0', 'first'], ['1.1.0', 'stolen'])
      await later(day)
      const { listing: memory } = scene().status('Module', 'vpc')
      expect(memory?.replaced).toMatchObject([{ version: '1.1.0' }])
      expect(scene().listed()).toEqual(['1.0.0'])
      await later(7 * day)
      expect(scene().listed()).toEqual(['1.1.0', '1.0.0'])
    })
  })
}
