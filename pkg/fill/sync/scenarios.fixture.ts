import { hash } from 'node:crypto'
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import type { ObjectPlace } from '../../records/store/conformance.fixture.ts'
import { FillError } from '../sources/sources.ts'
import { alteredScenarios } from './altered-scenarios.fixture.ts'
import { conflictScenarios } from './conflict-scenarios.fixture.ts'
import { depotScenarios } from './depot-scenarios.fixture.ts'
import { docsScenarios } from './docs-scenarios.fixture.ts'
import { heldBackScenarios } from './held-back-scenarios.fixture.ts'
import { heldScenarios } from './held-scenarios.fixture.ts'
import { hostScenarios } from './host-scenarios.fixture.ts'
import { installationScenarios } from './installation-scenarios.fixture.ts'
import { lifecycleScenarios } from './lifecycle-scenarios.fixture.ts'
import { limitScenarios } from './limit-scenarios.fixture.ts'
import { movedScenarios } from './moved-scenarios.fixture.ts'
import { policyScenarios } from './policy-scenarios.fixture.ts'
import { providerDocsScenarios } from './provider-docs-scenarios.fixture.ts'
import { providerScenarios } from './provider-scenarios.fixture.ts'
import { providerSourceScenarios } from './provider-source-scenarios.fixture.ts'
import { publishedScenarios } from './published-scenarios.fixture.ts'
import { refusedScenarios } from './refused-scenarios.fixture.ts'
import { removalScenarios } from './removal-scenarios.fixture.ts'
import { replacedScenarios } from './replaced-scenarios.fixture.ts'
import { scanPolicyScenarios } from './scan-policy-scenarios.fixture.ts'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import { Scene } from './scene.fixture.ts'
import { signerScenarios } from './signer-scenarios.fixture.ts'
import { spoolScenarios } from './spool-scenarios.fixture.ts'
import { tenantScenarios } from './tenant-scenarios.fixture.ts'
import { textScenarios } from './text-scenarios.fixture.ts'
import { undoScenarios } from './undo-scenarios.fixture.ts'
import { versionPolicyScenarios } from './version-policy-scenarios.fixture.ts'

const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }
let count = 0

type Open = (namespace: string) => Promise<ObjectPlace>

/** A scene for each test of a block. */
function scenes(open: Open): () => Scene {
  let place: ObjectPlace | undefined
  let scene: Scene | undefined
  beforeEach(async () => {
    const namespace = `team-${++count}`
    place = await open(namespace)
    scene = await Scene.open(place, namespace)
  })
  afterEach(async () => {
    await scene?.close()
    await place?.close()
  })
  return () => {
    if (scene === undefined) throw new Error('no test runs')
    return scene
  }
}

/** Scenarios of what reconcilers let in, for any place of objects. */
export function admissionScenarios(where: string, open: Open): void {
  describe(`reconcilers over ${where}, and what they let in:`, () => {
    const scene = scenes(open)
    heldBackScenarios(scene)
    installationScenarios(scene)
    policyScenarios(scene)
    refusedScenarios(scene)
    removalScenarios(scene)
    replacedScenarios(scene)
    scanPolicyScenarios(scene)
    signerScenarios(scene)
    versionPolicyScenarios(scene)
  })
}

/** The behaviour of reconcilers, for any place of objects. */
export function syncScenarios(where: string, open: Open): void {
  describe(`reconcilers over ${where}`, () => {
    const current = scenes(open)
    let scene: Scene
    beforeEach(() => {
      scene = current()
    })

    it('a version of a module is fetched, stored and reported in one status', async () => {
      scene.upstream.repository(url, { 'v1.0.0': 'first' })
      await scene.write('Module', 'vpc', { moduleConfig, versions: versions('v1.0.0') })
      await scene.run()
      expect(scene.names('Version')).toEqual(['vpc-1-0-0'])
      const { artifact, checksum, synced, syncStatus } = scene.status('Version', 'vpc-1-0-0')
      expect({ synced, syncStatus }).toEqual({ synced: true, syncStatus: 'Synced' })
      expect(await scene.stored()).toEqual([`depot/vpc/${artifact?.fileName}`])
      expect(artifact?.fileName).toMatch(/^vpc-1\.0\.0-[0-9a-f]{12}\.tar\.gz$/)
      expect(Buffer.from(checksum ?? '', 'base64').toString('hex')).toBe(artifact?.sha256)
      expect(scene.condition('Version', 'vpc-1-0-0', 'Ready')).toMatchObject({ status: 'True' })
      expect(scene.status('Module', 'vpc')).toMatchObject({
        synced: true,
        latestVersion: '1.0.0',
        fileName: artifact?.fileName,
        moduleVersionRefs: { '1.0.0': { name: 'vpc-1-0-0', synced: true } },
      })
    })

    it('a restart without changes writes nothing and sends no request', async () => {
      scene.upstream.repository(url, { 'v1.0.0': 'first' })
      await scene.write('Depot', 'main', {
        global: { storageConfig },
        moduleConfigs: [{ ...moduleConfig, name: 'vpc' }],
      })
      await scene.run()
      const revisions = () =>
        (['Depot', 'Module', 'Version'] as const).flatMap((kind) =>
          scene.names(kind).map((name) => scene.object(kind, name).metadata.resourceVersion),
        )
      await scene.run()
      const before = revisions()
      scene.upstream.asked.length = 0
      await scene.run()
      expect(revisions()).toEqual(before)
      expect(scene.upstream.asked).toEqual([])
    })

    it('a failing version names its problem and does not delay others', async () => {
      scene.upstream.repository(url, { 'v1.0.0': 'first' })
      await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0', '2.0.0') })
      await scene.run()
      expect(scene.status('Version', 'vpc-1-0-0').synced).toBe(true)
      expect(scene.status('Version', 'vpc-2-0-0')).toMatchObject({
        synced: false,
        syncStatus: 'Sync failed: there is no tag 2.0.0',
      })
      expect(scene.condition('Module', 'vpc', 'Ready')).toMatchObject({
        status: 'False',
        reason: 'PartiallySynced',
        message: expect.stringContaining('vpc-2-0-0: there is no tag 2.0.0') as string,
      })
      expect(scene.failing()).toEqual([`Version ${scene.namespace}/vpc-2-0-0`])
    })

    it('a deleted Version takes its archive with it, and a retained one stays', async () => {
      scene.upstream.repository(url, { 'v1.0.0': 'first', 'v2.0.0': 'second', 'v3.0.0': 'third' })
      const spec = { moduleConfig, versions: versions('1.0.0', '2.0.0', '3.0.0') }
      await scene.write('Module', 'vpc', spec)
      await scene.run()
      const kept = scene.object('Version', 'vpc-1-0-0')
      await scene.objects.patch(
        { kind: 'Version', namespace: scene.namespace, name: 'vpc-1-0-0' },
        { spec: { ...(kept.spec as object), retain: true } },
      )
      await scene.write('Module', 'vpc', { ...spec, versions: versions('3.0.0') })
      await scene.run({ timings: { removalGraceMs: 0 } })
      await eventually(() => expect(scene.names('Version')).toEqual(['vpc-1-0-0', 'vpc-3-0-0']))
      await eventually(async () => expect(await scene.stored()).toHaveLength(2))
      await eventually(() => expect(scene.status('Module', 'vpc').retained).toBe(1))
    })

    describe('when upstream has other content', () => {
      const changed = async (immutable: boolean | undefined) => {
        scene.upstream.repository(url, { 'v1.0.0': 'first' })
        const config = {
          ...moduleConfig,
          name: 'vpc',
          ...(immutable !== undefined && { immutable }),
        }
        await scene.write('Depot', 'main', {
          global: { storageConfig },
          moduleConfigs: [config],
          pollingIntervalMinutes: 5,
        })
        await scene.run()
        const before = scene.status('Version', 'vpc-1-0-0')
        scene.upstream.repository(url, { 'v1.0.0': 'changed' })
        scene.aheadMs += 10 * 60_000
        await scene.run()
        return before
      }

      it('an immutable version is kept and served', async () => {
        const before = await changed(true)
        const after = scene.status('Version', 'vpc-1-0-0')
        expect(after.artifact?.fileName).toBe(before.artifact?.fileName)
        expect(after).toMatchObject({ synced: false, checksum: before.checksum })
        expect(scene.condition('Version', 'vpc-1-0-0', 'Drifted')).toMatchObject({
          status: 'True',
          reason: 'UpstreamChanged',
          message: expect.stringContaining(before.artifact?.contentDigest ?? '?') as string,
        })
        expect(scene.condition('Version', 'vpc-1-0-0', 'Stalled')).toMatchObject({ status: 'True' })
      })

      it('an immutable version is ready again once upstream has the old content', async () => {
        await changed(true)
        scene.upstream.repository(url, { 'v1.0.0': 'first' })
        scene.aheadMs += 10 * 60_000
        await scene.run()
        expect(scene.status('Version', 'vpc-1-0-0')).toMatchObject({ synced: true })
        expect(scene.condition('Version', 'vpc-1-0-0', 'Stalled')).toBeUndefined()
      })

      it('a mutable version is replaced at the next poll, and the old archive stays for a while', async () => {
        const before = await changed(false)
        const after = scene.status('Version', 'vpc-1-0-0')
        expect(after.artifact?.fileName).not.toBe(before.artifact?.fileName)
        expect(after.previousDigests).toEqual([before.artifact?.contentDigest])
        expect(await scene.stored()).toHaveLength(2)
        scene.aheadMs += 25 * 60 * 60_000
        await scene.run()
        expect(await scene.stored()).toEqual([`depot/vpc/${after.artifact?.fileName}`])
      })

      it('any other version is reported without a download, and replaced on request', async () => {
        const before = await changed(undefined)
        const after = scene.status('Version', 'vpc-1-0-0')
        expect(after).toMatchObject({ synced: true, artifact: before.artifact })
        expect(scene.condition('Version', 'vpc-1-0-0', 'Drifted')).toMatchObject({ status: 'True' })
        expect(scene.upstream.asked.filter((what) => what.startsWith('fetch'))).toHaveLength(1)
        await scene.objects.patch(
          { kind: 'Version', namespace: scene.namespace, name: 'vpc-1-0-0' },
          { metadata: { annotations: { 'depot.internal/sync-requested-at': 'now' } } },
        )
        await eventually(() => {
          const { artifact, lastHandledSync } = scene.status('Version', 'vpc-1-0-0')
          expect(lastHandledSync).toBe('now')
          expect(artifact?.contentDigest).not.toBe(before.artifact?.contentDigest)
        })
      })
    })

    it('a lost archive is fetched again', async () => {
      scene.upstream.repository(url, { 'v1.0.0': 'first' })
      await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
      await scene.run()
      const [file = ''] = await scene.stored()
      await rm(`${scene.storage}/${file}`)
      scene.aheadMs += 48 * 60 * 60_000
      await scene.run()
      expect(await scene.stored()).toEqual([file])
    })

    it('a lost archive that upstream no longer has is to be restored from a backup', async () => {
      scene.upstream.repository(url, { 'v1.0.0': 'first' })
      await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
      await scene.run()
      const [file = ''] = await scene.stored()
      await rm(`${scene.storage}/${file}`)
      scene.upstream.repository(url, { 'v1.1.0': 'second' })
      scene.aheadMs += 48 * 60 * 60_000
      await scene.run()
      expect(scene.condition('Version', 'vpc-1-0-0', 'Ready')).toMatchObject({
        reason: 'UpstreamNotFound',
        message:
          'the stored archive is missing or altered, and upstream answered: there is no tag 1.0.0. If upstream no longer has it, restore the archive from a backup',
      })
    })

    it('an archive waits for unavailable storage, and is not fetched again', async () => {
      scene.upstream.repository(url, { 'v1.0.0': 'first' })
      await writeFile(`${scene.storage}/depot`, 'this is a file')
      await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
      await scene.run()
      expect(scene.condition('Version', 'vpc-1-0-0', 'Stored')).toMatchObject({
        status: 'False',
        reason: 'StorageFailed',
      })
      await rm(`${scene.storage}/depot`)
      await eventually(() => expect(scene.status('Version', 'vpc-1-0-0').synced).toBe(true))
      expect(scene.upstream.asked.filter((what) => what.startsWith('fetch'))).toHaveLength(1)
    })

    it('a place without a grant is neither filled nor cleared', async () => {
      const grants = (text: string) => ({
        archives: openArchiveStore({ filesystemMountPath: scene.storage }, { text }),
      })
      scene.upstream.repository(url, { 'v1.0.0': 'first' })
      await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
      await scene.run(grants(`another=* ${scene.namespace}=file:///elsewhere`))
      expect(scene.condition('Version', 'vpc-1-0-0', 'Stalled')).toMatchObject({
        status: 'True',
        reason: 'StorageNotGranted',
      })
      expect(await scene.stored()).toEqual([])

      await scene.run(grants(`${scene.namespace}=file:///depot`))
      const stored = await scene.stored()
      expect(stored).toHaveLength(1)

      await scene.run({
        ...grants('another=*'),
        confirmRemovals: true,
        timings: { removalGraceMs: 0 },
      })
      await scene.write('Module', 'vpc', { moduleConfig, versions: [] })
      await eventually(() =>
        expect(scene.condition('Version', 'vpc-1-0-0', 'Ready')).toMatchObject({
          status: 'False',
          reason: 'ArchiveNotRemoved',
        }),
      )
      expect(await scene.stored()).toEqual(stored)
    })

    it("messages about another tenant's place reveal only whether an archive has a known digest", async () => {
      const uploaded = (name: string, fileName: string, sha256: string) =>
        scene.write('Version', name, {
          type: 'Module',
          version: '1.0.0',
          moduleConfigRef: { name: 'vpc', storageConfig },
          upload: { fileName, sha256 },
        })
      await mkdir(`${scene.storage}/depot/vpc`, { recursive: true })
      await writeFile(`${scene.storage}/depot/vpc/theirs.zip`, 'theirs')
      await uploaded('guessed', 'theirs.zip', '0'.repeat(64))
      await uploaded('absent', 'absent.zip', '0'.repeat(64))
      await uploaded('known', 'theirs.zip', hash('sha256', 'theirs'))
      const archives = openArchiveStore(
        { filesystemMountPath: scene.storage },
        { text: 'another=*' },
      )
      await scene.run({ archives })
      const said = (name: string) => scene.condition('Version', name, 'Ready')?.message
      expect(said('guessed')).toBe(said('absent')?.replace('absent.zip', 'theirs.zip'))
      expect(said('guessed')).toContain('is not in storage with the digest')
      expect(scene.status('Version', 'known')).toMatchObject({ synced: true })
    })

    it('archives that no Version refers to are found a day later', async () => {
      scene.upstream.repository(url, { 'v1.0.0': 'first' })
      await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
      await scene.run()
      const [kept = ''] = await scene.stored()
      const orphan = `${scene.storage}/depot/vpc/vpc-0.9.0-0123456789ab.zip`
      const foreign = `${scene.storage}/depot/vpc/by-hand.zip`
      const young = `${scene.storage}/depot/vpc/vpc-0.8.0-0123456789ab.zip`
      for (const file of [orphan, foreign, young]) await writeFile(file, 'x')
      const old = Date.now() / 1000 - 48 * 60 * 60
      for (const file of [orphan, foreign, `${scene.storage}/${kept}`]) await utimes(file, old, old)
      await scene.run({ timings: { sweepMs: 100 }, sweepDelete: true })
      await eventually(async () =>
        expect(await scene.stored()).toEqual(
          ['depot/vpc/by-hand.zip', 'depot/vpc/vpc-0.8.0-0123456789ab.zip', kept].toSorted(),
        ),
      )
    })

    it('an unavailable upstream does not affect stored archives', async () => {
      scene.upstream.repository(url, { 'v1.0.0': 'first' })
      const config = { ...moduleConfig, name: 'vpc' }
      const spec = { moduleConfigs: [config], pollingIntervalMinutes: 1 }
      await scene.write('Depot', 'main', spec)
      await scene.run()
      scene.upstream.faults.set(url, new FillError('FetchFailed', 'git.test is unreachable'))
      scene.aheadMs += 5 * 60_000
      await scene.run()
      expect(scene.condition('Version', 'vpc-1-0-0', 'Ready')).toMatchObject({ status: 'True' })
      expect(scene.status('Depot', 'main').items).toEqual([
        { kind: 'Module', name: 'vpc', message: 'git.test is unreachable' },
      ])
      expect(scene.condition('Depot', 'main', 'Ready')).toMatchObject({ reason: 'SyncFailed' })
    })

    conflictScenarios(open)
    spoolScenarios(open)
    limitScenarios(() => scene)
    alteredScenarios(() => scene)
    providerDocsScenarios(() => scene)
    providerSourceScenarios(() => scene)
    docsScenarios(() => scene)
    heldScenarios(() => scene)
    movedScenarios(() => scene)
    lifecycleScenarios(() => scene)
    hostScenarios(() => scene)
    publishedScenarios(() => scene)
    undoScenarios(() => scene)
    providerScenarios(() => scene)
    depotScenarios(() => scene)
    textScenarios(() => scene)
    tenantScenarios(() => scene)
  })
}
