import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createLogger } from '../../../base/telemetry/telemetry.ts'
import { folderObjects, type Objects } from '../../../records/store/store.ts'
import { resourceOf } from '../objects.ts'
import { AwaitedReleases, wakeRelease } from './in-work.ts'
import { awaitRelease } from './upload.ts'

const root = mkdtempSync(join(tmpdir(), 'depot-release-'))
afterAll(() => rmSync(root, { recursive: true }))

const release = ['linux', 'windows'].map((os) => ({
  platform: `${os}_amd64`,
  sha256: (os === 'linux' ? 'a' : 'b').repeat(64),
}))

async function create(objects: Objects, os: string, spec: object, owner?: string): Promise<void> {
  const reference = {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Provider',
    name: 'dns',
    uid: owner ?? '',
    controller: true,
  }
  await objects.create({
    kind: 'Version',
    metadata: {
      name: `dns-${os}`,
      namespace: 'team',
      ...(owner && { ownerReferences: [reference] }),
    },
    spec: {
      type: 'Provider',
      version: '1.0.0',
      operatingSystem: os,
      architecture: 'amd64',
      providerConfigRef: { name: 'dns' },
      ...spec,
    },
  })
}

it('counts a platform that a Depot fetched, and waits without it, even while its Provider is unknown', async () => {
  const objects = await folderObjects({
    dir: root,
    apiGroup: 'depot.internal',
    watch: false,
    log: createLogger('silent'),
  })
  const waits = () => {
    const object = objects.get('Version', 'team', 'dns-linux')
    if (object === undefined) throw new Error('the Version is not there')
    const work = { object, version: resourceOf('Version', object) }
    return awaitRelease({ objects, clock: () => 0, awaited: new AwaitedReleases() }, work)
  }
  const upload = { fileName: 'linux.zip', sha256: 'a'.repeat(64), release }
  await create(objects, 'linux', { upload })
  expect(waits()).toMatchObject({ afterMs: expect.any(Number) })
  const providerConfig = { storageConfig: { fileSystem: { directoryPath: 'dns' } } }
  const metadata = { name: 'dns', namespace: 'team' }
  await objects.create({ kind: 'Provider', metadata, spec: { providerConfig, versions: [] } })
  expect(waits()).toMatchObject({ afterMs: expect.any(Number) })
  const owner = objects.get('Provider', 'team', 'dns')?.metadata.uid
  await create(objects, 'windows', {}, owner)
  const windows = objects.get('Version', 'team', 'dns-windows')
  if (windows === undefined) throw new Error('the Version is not there')
  expect(waits()).toMatchObject({ afterMs: expect.any(Number) })
  await objects.writeStatus(windows, { checksum: 'b'.repeat(64) })
  expect(waits()).toBeUndefined()
})

it('wakes the platforms that wait for a Version that was not published with them, once', async () => {
  const dir = join(root, 'woken')
  mkdirSync(dir)
  const log = createLogger('silent')
  const objects = await folderObjects({ dir, apiGroup: 'depot.internal', watch: false, log })
  const awaited = new AwaitedReleases()
  const woken: string[] = []
  const context = {
    objects,
    awaited,
    clock: () => 0,
    wake: ({ name }: { readonly name: string }) => woken.push(name),
  }
  const stored = (os: string) => {
    const object = objects.get('Version', 'team', `dns-${os}`)
    if (object === undefined) throw new Error('the Version is not there')
    return { object, version: resourceOf('Version', object) }
  }
  await create(objects, 'linux', {
    upload: { fileName: 'linux.zip', sha256: 'a'.repeat(64), release },
  })
  expect(awaitRelease(context, stored('linux'))).toBeDefined()
  await create(objects, 'windows', {
    upload: { fileName: 'windows.zip', sha256: 'b'.repeat(64) },
  })
  const windows = stored('windows')
  expect(awaitRelease(context, windows)).toBeUndefined()
  for (let time = 0; time < 2; time += 1) wakeRelease(context, windows.object)
  expect(woken).toEqual(['dns-linux'])
  expect(awaitRelease(context, stored('linux'))).toBeUndefined()
  wakeRelease(context, windows.object)
  expect(woken).toEqual(['dns-linux'])
})
