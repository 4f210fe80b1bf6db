import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { refOf } from '../../records/store/store.ts'
import { FillError } from '../sources/sources.ts'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

type Policy = 'None' | 'Warn' | 'Enforce'

const input = (...names: readonly string[]) => ({
  'main.tf': names.map((name) => `variable "${name}" {\n  type = string\n}\n`).join(''),
})
const optional = (name: string) => ({
  'main.tf': `${input('cidr')['main.tf']}variable "${name}" {\n  default = 1\n}\n`,
})
/** 1.1.0 and 1.2.0 need an input that 1.0.0 does not have; so does 2.0.0. */
const tags = {
  'v1.0.0': input('cidr'),
  'v1.1.0': input('cidr', 'name'),
  'v1.2.0': input('cidr', 'name'),
  'v2.0.0': input('cidr', 'name'),
}
const numbers = Object.keys(tags).map((tag) => tag.slice(1))
const added = 'input name: Callers must set the new input.'

/** Versions of a module that break callers although their number promises not to. */
export function versionPolicyScenarios(scene: () => Scene): void {
  const nameOf = (number: string) => `vpc-${number.replaceAll('.', '-')}`
  const status = (number: string) => scene().status('Version', nameOf(number))
  const condition = (number: string, type: string) =>
    scene().condition('Version', nameOf(number), type)
  const upstream = (all: Readonly<Record<string, Readonly<Record<string, string>>>>) =>
    scene().upstream.repositories.set(url, new Map(Object.entries(all)))
  const write = (versionPolicy: Policy | undefined, all: readonly string[] = numbers) =>
    scene().write('Module', 'vpc', {
      moduleConfig: {
        provider: 'aws',
        source: { type: 'git', url },
        storageConfig,
        ...(versionPolicy !== undefined && { versionPolicy }),
      },
      versions: versions(...all),
    })
  const fill = async (policy: Policy | undefined, all?: readonly string[]) => {
    upstream(tags)
    await write(policy, all)
    await scene().run()
  }
  const edit = (number: string, fields: object) => {
    const object = scene().object('Version', nameOf(number))
    return scene().objects.patch(refOf(object), { spec: { ...(object.spec as object), ...fields } })
  }
  const served = () =>
    numbers.filter((number) => {
      const { artifact, synced } = status(number)
      return artifact !== undefined && synced === true
    })

  describe('a version that breaks callers without a new major version', () => {
    it('is stored, and its status says so, whatever the order in which versions come', async () => {
      await fill(undefined, ['1.1.0', '2.0.0'])
      await write(undefined)
      await eventually(() => expect(status('1.1.0').compared?.verdict).toBe('breaking'))
      await eventually(() => expect(status('1.2.0').compared?.verdict).toBe('compatible'))
      await scene().idle()
      expect(served()).toEqual(numbers)
      expect(status('1.1.0').compared).toEqual({
        from: '1.0.0',
        fromSha256: status('1.0.0').artifact?.sha256,
        sha256: status('1.1.0').artifact?.sha256,
        verdict: 'breaking',
        reasons: [added],
      })
      expect(status('1.0.0').compared).toBeUndefined()
      expect(status('2.0.0').compared).toBeUndefined()
      expect(condition('1.1.0', 'SemVer')).toBeUndefined()
    })

    it('has a condition with the first three reasons under Warn, until the policy is taken back', async () => {
      upstream({ ...tags, 'v1.1.0': input('cidr', 'a', 'b', 'c', 'd') })
      await write('Warn', ['1.0.0', '1.1.0'])
      await scene().run()
      await eventually(() =>
        expect(condition('1.1.0', 'SemVer')).toMatchObject({
          status: 'False',
          reason: 'BreakingChange',
          message: `breaks callers of 1.0.0: ${['a', 'b', 'c'].map((name) => added.replace('name', name)).join(' ')}`,
        }),
      )
      expect(status('1.1.0')).toMatchObject({ synced: true })
      expect(condition('1.0.0', 'SemVer')).toBeUndefined()
      await edit('1.1.0', { acceptBreaking: true })
      await eventually(() =>
        expect(condition('1.1.0', 'SemVer')).toMatchObject({
          status: 'True',
          reason: 'BreakingAccepted',
        }),
      )
      await write('None', ['1.0.0', '1.1.0'])
      await eventually(() => expect(condition('1.1.0', 'SemVer')).toBeUndefined())
      expect(status('1.1.0')).toMatchObject({ synced: true, compared: { verdict: 'breaking' } })
    })

    it('is compared with another version if the one before it goes', async () => {
      await fill('Warn', ['1.0.0', '1.1.0', '1.2.0'])
      await eventually(() => expect(status('1.2.0').compared).toMatchObject({ from: '1.1.0' }))
      await write('Warn', ['1.0.0', '1.2.0'])
      await eventually(() =>
        expect(status('1.2.0').compared).toMatchObject({ from: '1.0.0', verdict: 'breaking' }),
      )
      await write('Warn', ['1.2.0'])
      await eventually(() => expect(status('1.2.0').compared).toBeUndefined())
      expect(condition('1.2.0', 'SemVer')).toBeUndefined()
    })

    it('is written once: nothing is compared, written or asked again after a restart', async () => {
      await fill('Enforce')
      await scene().run()
      const revisions = () =>
        scene()
          .names('Version')
          .map((name) => scene().object('Version', name).metadata.resourceVersion)
      const before = revisions()
      await scene().run()
      expect(revisions()).toEqual(before)
      expect(scene().upstream.asked.filter((what) => what.startsWith('fetch'))).toHaveLength(4)
    })
  })

  describe('a module with versionPolicy Enforce', () => {
    const refused = (number: string) =>
      expect(condition(number, 'Ready')).toMatchObject({
        status: 'False',
        reason: 'BreakingChange',
        message: expect.stringContaining(`breaks callers of 1.0.0: ${added}`) as string,
      })

    it('does not store them, and takes each one that compares well', async () => {
      upstream({ ...tags, 'v1.0.1': optional('more') })
      await write('Enforce', [...numbers, '1.0.1'])
      await scene().run()
      await eventually(() => expect(served()).toEqual(['1.0.0', '2.0.0']))
      expect(status('1.0.1')).toMatchObject({ synced: true, compared: { verdict: 'compatible' } })
      expect(condition('1.0.1', 'SemVer')).toMatchObject({ status: 'True', reason: 'Compatible' })
      for (const number of ['1.1.0', '1.2.0']) {
        expect(condition(number, 'Ready')).toMatchObject({ reason: 'BreakingChange' })
        expect(condition(number, 'SemVer')).toMatchObject({ status: 'False' })
        expect(status(number)).toMatchObject({ synced: false, compared: { from: '1.0.1' } })
        expect(status(number).artifact).toBeUndefined()
        expect(status(number).checksum).toBeUndefined()
      }
      expect(await scene().stored()).toHaveLength(3)
      expect(scene().condition('Module', 'vpc', 'Ready')).toMatchObject({
        reason: 'PartiallySynced',
        message: expect.stringContaining('breaks callers of 1.0.1') as string,
      })
      const command = `--namespace ${scene().namespace} --type merge -p '{"spec":{"acceptBreaking":true}}'`
      const remedy = scene().objects.isFolder
        ? 'set spec.acceptBreaking: true in the manifest'
        : command
      expect(condition('1.1.0', 'Ready')?.message).toContain(remedy)
      const held = {
        since: expect.any(String) as string,
        why: 'Breaking',
        message: expect.stringMatching(/^it breaks callers of 1\.0\.1: .*[^.]$/) as string,
      }
      const listing = () => scene().status('Module', 'vpc').listing
      await eventually(() =>
        expect(listing()?.heldBack).toEqual([
          { version: '1.2.0', ...held },
          { version: '1.1.0', ...held },
        ]),
      )
      await write('Warn', [...numbers, '1.0.1'])
      await eventually(() => expect(served()).toEqual(numbers))
      await eventually(() => expect(listing()).toBeUndefined())
    })

    it('does not store one whose documentation is too large to be stored whole', async () => {
      const text = 'x'.repeat(900_000)
      const large = [1, 2, 3].map((at) => [
        `large${at}.tf.json`,
        JSON.stringify({ variable: { [`large${at}`]: { default: text } } }),
      ])
      upstream({ ...tags, 'v1.1.0': { ...tags['v1.1.0'], ...Object.fromEntries(large) } })
      await write('Enforce', ['1.0.0', '1.1.0'])
      await scene().run()
      await eventually(() => refused('1.1.0'))
      expect(status('1.1.0').artifact).toBeUndefined()
    })

    it('takes one that a person accepts, and those that keep what that one promises', async () => {
      await fill('Enforce')
      refused('1.1.0')
      refused('1.2.0')
      await edit('1.1.0', { acceptBreaking: true })
      await eventually(() => expect(served()).toEqual(numbers))
      await eventually(() => {
        expect(condition('1.1.0', 'SemVer')).toMatchObject({ reason: 'BreakingAccepted' })
        expect(status('1.2.0').compared).toMatchObject({ from: '1.1.0', verdict: 'compatible' })
      })
      await edit('1.1.0', { acceptBreaking: false })
      await eventually(() =>
        expect(condition('1.1.0', 'SemVer')).toMatchObject({ status: 'False' }),
      )
      expect(served()).toEqual(numbers)
    })

    it('takes all of them once the policy is taken back', async () => {
      await fill('Enforce')
      refused('1.1.0')
      await write('Warn')
      await eventually(() => expect(served()).toEqual(numbers))
      await eventually(() =>
        expect(condition('1.1.0', 'SemVer')).toMatchObject({ status: 'False' }),
      )
    })

    it('takes them once the version that they break is withdrawn', async () => {
      await fill('Enforce')
      refused('1.1.0')
      refused('1.2.0')
      await write('Enforce', ['1.1.0', '1.2.0', '2.0.0'])
      await eventually(() => expect(scene().names('Version')).not.toContain('vpc-1-0-0'))
      for (const version of ['1.1.0', '1.2.0']) {
        await eventually(() => expect(status(version)).toMatchObject({ synced: true }))
      }
    })

    it('keeps what was stored before', async () => {
      await fill(undefined)
      const stored = await scene().stored()
      await write('Enforce')
      await eventually(() =>
        expect(condition('1.1.0', 'SemVer')).toMatchObject({ status: 'False' }),
      )
      await scene().run()
      expect(served()).toEqual(numbers)
      expect(await scene().stored()).toEqual(stored)
    })

    it('takes a version that cannot be parsed, because nothing can be decided', async () => {
      upstream({ ...tags, 'v1.1.0': { 'main.tf': 'variable "cidr" {\n  type =\n}\n' } })
      await write('Enforce', ['1.0.0', '1.1.0'])
      await scene().run()
      expect(status('1.1.0')).toMatchObject({ synced: true, compared: { verdict: 'unknown' } })
      expect(condition('1.1.0', 'SemVer')).toMatchObject({
        status: 'Unknown',
        reason: 'Undecided',
      })
    })

    it('does not wait for a version that fails', async () => {
      upstream(tags)
      const fault = new FillError('NotAnArchive', 'it is a page')
      scene().upstream.faults.set(`fetch ${url} 1.1.0`, fault)
      await write('Enforce')
      await scene().run()
      await eventually(() => refused('1.2.0'))
      expect(served()).toEqual(['1.0.0', '2.0.0'])
    })

    /** 1.0.0 or 1.0.5 waits for its upstream until a request. */
    const busy = (number: string) => `resolve ${url} ${number}`
    const beBusy = (number: string) => {
      const message = 'too many requests'
      const fault = new FillError('RateLimited', message, { retryAfterMs: 600_000 })
      scene().upstream.faults.set(busy(number), fault)
    }
    const isBusy = (number: string) =>
      eventually(() => expect(condition(number, 'Ready')).toMatchObject({ reason: 'RateLimited' }))
    const answer = async (number: string) => {
      scene().upstream.faults.delete(busy(number))
      const annotations = { 'depot.internal/sync-requested-at': 'now' }
      await scene().objects.patch(refOf(scene().object('Version', nameOf(number))), {
        metadata: { annotations },
      })
      await eventually(() => expect(status(number)).toMatchObject({ synced: true }))
    }

    it('tries a failed version again if an earlier one appeared before its retry', async () => {
      upstream({ ...tags, 'v1.0.5': input('cidr') })
      const fetch = `fetch ${url} 1.1.0`
      scene().upstream.faults.set(fetch, new FillError('FetchFailed', 'the connection was lost'))
      beBusy('1.0.5')
      await write('Enforce', ['1.1.0'])
      await scene().run()
      const name = `Version ${scene().namespace}/vpc-1-1-0`
      await eventually(() => expect(scene().failing()).toContain(name))
      await write('Enforce', ['1.0.5', '1.1.0'])
      await isBusy('1.0.5')
      await eventually(() => expect(scene().failing()).not.toContain(name))
      expect(condition('1.1.0', 'Ready')).toMatchObject({ reason: 'FetchFailed' })
      scene().upstream.faults.delete(fetch)
      await answer('1.0.5')
      await eventually(() =>
        expect(condition('1.1.0', 'Ready')).toMatchObject({ reason: 'BreakingChange' }),
      )
    })

    it('compares a version with an earlier one that appears while it is fetched', async () => {
      upstream(tags)
      const delay = Promise.withResolvers<void>()
      scene().upstream.delays.set(url, delay.promise)
      beBusy('1.0.0')
      await write('Enforce', ['1.1.0'])
      await scene().begin()
      const isFetched = () => expect(scene().upstream.asked).toContain(`fetch ${url} 1.1.0`)
      await eventually(isFetched)
      await write('Enforce', ['1.0.0', '1.1.0'])
      await isBusy('1.0.0')
      delay.resolve()
      await scene().idle()
      expect(status('1.1.0').artifact).toBeUndefined()
      expect(condition('1.1.0', 'Ready')?.status).not.toBe('False')
      expect(await scene().stored()).toEqual([])
      await answer('1.0.0')
      await eventually(() => refused('1.1.0'))
    })

    it('takes a version if the documentation of the one before it cannot be read', async () => {
      upstream(tags)
      await write('Enforce', ['1.0.0'])
      await scene().run()
      const [docs = ''] = await scene().documentation()
      const bytes = Buffer.from('{')
      await writeFile(join(scene().storage, docs), bytes)
      const { artifact } = status('1.0.0')
      await scene().objects.writeStatus(scene().object('Version', nameOf('1.0.0')), {
        ...status('1.0.0'),
        artifact: { ...artifact, docs: { sha256: hash('sha256', bytes), sizeBytes: bytes.length } },
      })
      await write('Enforce', ['1.0.0', '1.1.0', '1.2.0'])
      await eventually(() => expect(scene().names('Version')).toContain(nameOf('1.2.0')))
      for (const number of ['1.1.0', '1.2.0']) {
        await eventually(() => expect(status(number)).toMatchObject({ synced: true }))
      }
      expect(status('1.1.0').compared).toBeUndefined()
      expect(status('1.2.0').compared).toMatchObject({ from: '1.1.0', verdict: 'compatible' })
    })

    it('keeps the first archive of a version whose tag now breaks callers', async () => {
      upstream({ ...tags, 'v1.1.0': input('cidr') })
      await write('Enforce', ['1.0.0', '1.1.0'])
      await scene().run()
      const { artifact } = status('1.1.0')
      upstream(tags)
      const annotations = { 'depot.internal/sync-requested-at': 'now' }
      const object = scene().object('Version', 'vpc-1-1-0')
      await scene().objects.patch(refOf(object), { metadata: { annotations } })
      await eventually(() =>
        expect(condition('1.1.0', 'Ready')).toMatchObject({ reason: 'BreakingChange' }),
      )
      expect(status('1.1.0').artifact).toEqual(artifact)
      expect(status('1.1.0').compared).toMatchObject({ verdict: 'compatible' })
      expect(condition('1.1.0', 'SemVer')).toMatchObject({ reason: 'Compatible' })
    })

    it('can be one of a Depot, whose policy is a default for all of its modules', async () => {
      upstream(tags)
      const depot = (versionPolicy: Policy, own?: Policy) =>
        scene().write('Depot', 'main', {
          global: { storageConfig, moduleConfig: { versionPolicy } },
          moduleConfigs: [
            {
              name: 'vpc',
              provider: 'aws',
              source: { type: 'git', url },
              ...(own !== undefined && { versionPolicy: own }),
            },
          ],
        })
      await depot('Enforce')
      await scene().run()
      await eventually(() => refused('1.2.0'))
      expect(served()).toEqual(['1.0.0', '2.0.0'])
      await depot('Enforce', 'None')
      await eventually(() => expect(served()).toEqual(numbers))
    })

    it('compares the first versions of a Depot with a minimum age', async () => {
      const young = ['v1.0.2', 'v1.0.3', 'v1.0.4'].map((tag) => [tag, input('cidr')])
      upstream({
        'v1.0.0': input('cidr'),
        'v1.0.1': input('cidr', 'name'),
        ...Object.fromEntries(young),
      })
      const observed: unknown[] = []
      scene().through = (objects) => ({
        ...objects,
        async apply(object) {
          if (object.kind === 'Version') {
            await eventually(() => expect(scene().status('Module', 'vpc').listing).toBeDefined())
            observed.push(scene().status('Module', 'vpc').observedGeneration)
          }
          return objects.apply(object)
        },
      })
      await scene().write('Depot', 'main', {
        global: { storageConfig, moduleConfig: { versionPolicy: 'Enforce' } },
        moduleConfigs: [{ name: 'vpc', provider: 'aws', source: { type: 'git', url } }],
        policy: { minimumAge: '7d' },
      })
      await scene().run()
      await eventually(() => refused('1.0.1'))
      expect(observed).toEqual([undefined, undefined])
      expect(status('1.0.0')).toMatchObject({ synced: true })
    })
  })
}
