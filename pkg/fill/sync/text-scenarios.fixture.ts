import { rm, writeFile } from 'node:fs/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { ObjectKind } from '../../records/store/store.ts'
import { FillError } from '../sources/sources.ts'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

/** The texts of a status, word for word. */
export function textScenarios(scene: () => Scene): void {
  describe('a status', () => {
    const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }
    const version = 'vpc-1-0-0'
    const write = (spec: object = {}) =>
      scene().write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0'), ...spec })
    /** The text of a status, and its conditions as `Type=Status Reason: message`. */
    const says = (kind: ObjectKind, name: string) => {
      const { syncStatus, conditions = [] } = scene().status(kind, name)
      const lines = conditions.map(
        (one) => `${one.type}=${one.status} ${one.reason}: ${one.message}`,
      )
      return syncStatus === undefined ? lines : [syncStatus, ...lines]
    }
    const suspended = 'Suspended=True Suspended: spec.suspend is set'
    const storedModule = ['Synced', 'Ready=True Synced: all 1 are stored']
    const storedVersion = [
      'Synced',
      'Drifted=False InStep: upstream has the content that is served',
      'Fetched=True Synced: the archive was fetched from upstream',
      'Ready=True Synced: the archive is stored and served',
      'Stored=True Stored: the archive was read back from storage',
    ]
    let letGo = () => {}
    // Even after a failure, because the end waits for running work.
    afterEach(() => letGo())
    const delayed = () => {
      const delay = Promise.withResolvers<void>()
      letGo = delay.resolve
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      scene().upstream.delays.set(url, delay.promise)
    }

    it('says that an archive is being fetched, and then that it is stored', async () => {
      delayed()
      await write()
      const sync = await scene().begin({ timings: { progressMs: 10 } })
      const fetching = 'Reconciling=True Progressing: the archive is being fetched'
      await eventually(() => expect(says('Version', version)).toEqual(['Fetching', fetching]))
      const waits = 'versions are being fetched'
      await eventually(() =>
        expect(says('Module', 'vpc')).toEqual([
          'Pending',
          `Ready=Unknown Progressing: ${waits}`,
          `Reconciling=True Progressing: ${waits}`,
        ]),
      )
      letGo()
      await sync.idle()
      expect(says('Version', version)).toEqual(storedVersion)
      expect(says('Module', 'vpc')).toEqual(storedModule)
    })

    it('stays Synced while a stored archive is fetched again', async () => {
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      await write()
      const sync = await scene().begin({ timings: { progressMs: 10 } })
      await sync.idle()
      delayed()
      scene().upstream.repository(url, { 'v1.0.0': 'second' })
      await scene().objects.patch(
        { kind: 'Version', namespace: scene().namespace, name: version },
        { metadata: { annotations: { 'depot.internal/sync-requested-at': 'today' } } },
      )
      const fetching = 'Reconciling=True Progressing: the archive is being fetched'
      await eventually(() =>
        expect(says('Version', version)).toEqual([
          ...storedVersion.slice(0, 4),
          fetching,
          storedVersion[4],
        ]),
      )
      letGo()
      await eventually(() => expect(says('Version', version)).toEqual(storedVersion))
    })

    it('says that its object is suspended, and keeps Ready', async () => {
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      await write()
      await scene().run()
      await write({ suspend: true })
      await scene().objects.patch(
        { kind: 'Version', namespace: scene().namespace, name: version },
        { spec: { suspend: true } },
      )
      await eventually(() => {
        expect(says('Module', 'vpc')).toEqual([
          'Suspended',
          'Ready=True Synced: all 1 are stored',
          suspended,
        ])
        expect(says('Version', version)).toEqual([
          'Suspended',
          ...storedVersion.slice(1, 4),
          storedVersion[4],
          suspended,
        ])
      })
      expect(scene().status('Version', version).synced).toBe(true)
      await write()
      await scene().objects.patch(
        { kind: 'Version', namespace: scene().namespace, name: version },
        { spec: { suspend: null } },
      )
      await eventually(() => {
        expect(says('Module', 'vpc')).toEqual(storedModule)
        expect(says('Version', version)).toEqual(storedVersion)
      })
    })

    it('says that a Depot is suspended', async () => {
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      const spec = { global: { storageConfig }, moduleConfigs: [{ ...moduleConfig, name: 'vpc' }] }
      await scene().write('Depot', 'main', { ...spec, suspend: true })
      await scene().run()
      expect(says('Depot', 'main')).toEqual([suspended])
      await scene().write('Depot', 'main', spec)
      await eventually(() =>
        expect(says('Depot', 'main')).toEqual([
          'Conflict=False NoConflict: nothing to report',
          'Ready=True Synced: 1 of 1 configs match upstream',
          'UpstreamSuspicious=False UpstreamPlausible: nothing to report',
        ]),
      )
    })

    it('says that it waits for a rate limit, which is not a failure', async () => {
      const message = 'git.test asks to wait until 12:00:00 UTC'
      const patience = new FillError('RateLimited', message, { retryAfterMs: 60_000 })
      scene().upstream.faults.set(url, patience)
      scene().upstream.faults.set('acme/dns', patience)
      await write()
      const providerConfig = { namespace: 'acme', storageConfig }
      await scene().write('Provider', 'dns', { providerConfig, versions: versions('1.0.0') })
      await scene().run()
      expect(says('Version', version)).toEqual([
        'Waiting for upstream',
        `Fetched=False RateLimited: ${message}`,
        `Ready=False RateLimited: ${message}`,
        `Reconciling=True RateLimited: ${message}`,
      ])
      expect(says('Provider', 'dns')).toEqual([
        'Waiting for upstream',
        `Ready=False RateLimited: ${message}`,
        `Reconciling=True RateLimited: ${message}`,
      ])
      expect(says('Module', 'vpc')).toEqual([
        'Waiting for upstream',
        `Ready=False RateLimited: 1 of 1 wait; ${version}: ${message}`,
        `Reconciling=True RateLimited: 1 of 1 wait; ${version}: ${message}`,
      ])
    })

    it('names the problem of an archive, a storage or a spec', async () => {
      const failure = new FillError('FetchFailed', 'git.test answered 500')
      scene().upstream.faults.set(url, failure)
      await write()
      await scene().run()
      expect(says('Version', version)).toEqual([
        'Sync failed: git.test answered 500',
        'Fetched=False FetchFailed: git.test answered 500',
        'Ready=False FetchFailed: git.test answered 500',
        'Reconciling=True FetchFailed: git.test answered 500',
      ])
      expect(says('Module', 'vpc')).toEqual([
        'Sync failed: 1 of 1 versions, the first with: git.test answered 500',
        `Ready=False SyncFailed: 1 of 1 failed; ${version}: git.test answered 500`,
        'Reconciling=True Progressing: failed versions are tried again',
      ])

      scene().upstream.faults.clear()
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      await writeFile(`${scene().storage}/depot`, 'this is a file')
      await scene().run()
      const [text = '', ...conditions] = says('Version', version)
      expect(text).toMatch(/^Sync failed: the archive could not be stored/)
      expect(conditions).toContain(
        `Stored=False StorageFailed: ${text.slice('Sync failed: '.length)}`,
      )
      await rm(`${scene().storage}/depot`)

      await write({ moduleConfig: { provider: 'aws', storageConfig } })
      const advice =
        'the module has no source: set source, repoUrl or repoOwner, or spec.upload for an archive that is in storage already'
      await eventually(() => {
        const said = says('Version', version)
        expect(said).toContain(`Sync failed: ${advice}`)
        expect(said).toContain(`Ready=False InvalidSpec: ${advice}`)
        expect(said).toContain(`Stalled=True InvalidSpec: ${advice}`)
      })
    })

    it.each([
      { immutable: false, text: /^Drifted=True UpstreamChanged: .*forceSync replaces it$/ },
      { immutable: true, text: /^Sync failed: .*which is still served$/ },
    ])('says that a held version is still served: $text', async ({ immutable, text }) => {
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      const config = { ...moduleConfig, ...(immutable && { immutable }), name: 'vpc' }
      const spec = { global: { storageConfig }, moduleConfigs: [config], pollingIntervalMinutes: 5 }
      await scene().write('Depot', 'main', spec)
      await scene().run()
      scene().upstream.repository(url, { 'v1.0.0': 'second' })
      scene().aheadMs += 10 * 60_000
      await scene().run()
      expect(says('Version', version)).toContainEqual(expect.stringMatching(text))
      expect(scene().status('Version', version).synced).toBe(!immutable)
    })
  })
}
