import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { defaultLimits } from '../../archives/archive/archive.ts'
import { zipOf } from '../../archives/archive/packed.fixture.ts'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { ApiError } from '../../records/kube/kube.ts'
import { folderObjects, refOf } from '../../records/store/store.ts'
import {
  type PublishContext,
  planProvider,
  planPublication,
  publish,
  publishProvider,
} from './publishing.ts'

const root = mkdtempSync(join(tmpdir(), 'depot-publishing-'))
afterAll(() => rmSync(root, { recursive: true }))
let dir = ''
let count = 0
let context: PublishContext
beforeEach(async () => {
  dir = join(root, String(++count))
  for (const name of ['registry', 'archives', 'work'])
    mkdirSync(join(dir, name), { recursive: true })
  context = {
    objects: await folderObjects({
      dir: join(dir, 'registry'),
      apiGroup: 'depot.internal',
      watch: false,
      log: createLogger('silent'),
    }),
    archives: openArchiveStore({ filesystemMountPath: join(dir, 'archives') }),
    limits: defaultLimits.module,
    workDir: join(dir, 'work'),
    signal: new AbortController().signal,
  }
})

/** Plans a version, waits, and publishes it. */
function publishAfter(
  waiting: Promise<unknown>,
  content: string,
  version = '1.0.0',
  more: Readonly<Record<string, string>> = {},
) {
  const file = join(dir, content)
  mkdirSync(file, { recursive: true })
  const files = { 'main.tf': `# ${content}\n`, ...more }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(file, name), text)
  const address = { namespace: 'team', name: 'vpc', system: 'aws' }
  const storage = { fileSystem: { directoryPath: 'modules' } }
  const asked = { file, address, version, storage, allowed: [] }
  const planned = Promise.withResolvers<void>()
  const ended = planPublication(context, asked, async (publication) => {
    planned.resolve()
    await waiting
    return publish(context, publication)
  })
  return { planned: planned.promise, ended }
}

it('refuses a version that somebody else published while its archive was stored', async () => {
  const first = Promise.withResolvers<void>()
  const slow = publishAfter(first.promise, 'slow')
  const same = publishAfter(first.promise, 'fast')
  await Promise.all([slow.planned, same.planned])
  expect(await publishAfter(Promise.resolve(), 'fast').ended).toBe('published')
  first.resolve()
  await expect(slow.ended).rejects.toMatchObject({ reason: 'VersionExists' })
  expect(await same.ended).toBe('exists')
  expect(context.objects.list('Version')).toHaveLength(1)
})

const moduleObject = (name: string, provider: string) => ({
  kind: 'Module' as const,
  metadata: { name, namespace: 'team' },
  spec: {
    moduleConfig: {
      name: 'vpc',
      provider,
      storageConfig: { fileSystem: { directoryPath: 'modules' } },
    },
    versions: [],
  },
})

const modules = () =>
  context.objects
    .list('Module')
    .map(({ metadata, spec }) => [
      metadata.name,
      (spec as { moduleConfig: { provider: string } }).moduleConfig.provider,
    ])

it('creates the Module again that was removed, although the version is there', async () => {
  expect(await publishAfter(Promise.resolve(), 'same').ended).toBe('published')
  const [module] = context.objects.list('Module')
  if (module === undefined) throw new Error('no Module was created')
  await context.objects.delete(refOf(module))
  expect(await publishAfter(Promise.resolve(), 'same').ended).toBe('published')
  expect(modules()).toEqual([['vpc-aws', 'aws']])
  expect(context.objects.list('Version')).toHaveLength(1)
})

it('refuses a Module that is being deleted', async () => {
  const { metadata, ...module } = moduleObject('vpc', 'aws')
  const deleted = { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
  await context.objects.create({ ...module, metadata: deleted })
  await expect(publishAfter(Promise.resolve(), 'late').ended).rejects.toMatchObject({
    reason: 'NoParent',
    message: expect.stringContaining('is being deleted'),
  })
})

it.each([
  ['gives the Module another name if somebody else took its name meanwhile', 'google', 2],
  ['uses the Module that somebody else created meanwhile', 'aws', 1],
])('%s', async (_, provider, expected) => {
  const taken = Promise.withResolvers<void>()
  const slow = publishAfter(taken.promise, 'slow')
  await slow.planned
  await context.objects.create(moduleObject('vpc-aws', provider))
  taken.resolve()
  expect(await slow.ended).toBe('published')
  expect(modules()).toHaveLength(expected)
  expect(modules().map(([, system]) => system)).toContain('aws')
})

it('keeps the README that a person named for a version', async () => {
  const readme = { 'README.md': '# VPC\n' }
  await publishAfter(Promise.resolve(), 'same', '1.0.0', readme).ended
  const [version] = context.objects.list('Version')
  if (version === undefined) throw new Error('no Version was created')
  const readmeConfigMapRef = { name: 'by-hand', key: 'readme' }
  await context.objects.writeStatus(version, { readmeConfigMapRef })
  await context.objects.writeReadme(version, undefined)
  expect(await publishAfter(Promise.resolve(), 'same', '1.0.0', readme).ended).toBe('exists')
  expect(context.objects.list('Version')[0]?.status).toMatchObject({ readmeConfigMapRef })
})

/** Plans a release of zips that each have this content. */
async function plannedRelease(content: string, platforms: readonly string[]) {
  const folder = join(dir, content)
  mkdirSync(folder)
  for (const platform of platforms) {
    const zip = await zipOf([{ path: 'terraform-provider-cmdb_v1.0.0', content }])
    writeFileSync(join(folder, `terraform-provider-cmdb_1.0.0_${platform}.zip`), zip)
  }
  const address = { namespace: 'team', name: 'cmdb' }
  const storage = { fileSystem: { directoryPath: 'providers' } }
  return planProvider(
    { ...context, limits: defaultLimits.provider },
    { folder, address, version: undefined, storage },
  )
}

it('refuses the rest of a release once another build has published a platform', async () => {
  const first = await plannedRelease('first', ['linux_amd64', 'windows_amd64'])
  const second = await plannedRelease('second', ['darwin_arm64', 'linux_amd64'])
  const { objects } = context
  const during: PublishContext['objects'] = {
    ...objects,
    create: async (object) => {
      const created = await objects.create(object)
      if (object.kind !== 'Version') return created
      await expect(publishProvider(context, second)).rejects.toMatchObject(refused)
      return created
    },
  }
  const refused = { reason: 'VersionExists', message: expect.stringContaining('is published with') }
  expect(await publishProvider({ ...context, objects: during }, first)).toBe('published')
  const third = await plannedRelease('third', ['darwin_arm64'])
  await expect(publishProvider(context, third)).rejects.toMatchObject(refused)
  expect(objects.list('Version')).toHaveLength(2)
})

it('lets a caller over HTTP ask again if somebody else took the name meanwhile', async () => {
  context = { ...context, publisher: {} }
  const taken = Promise.withResolvers<void>()
  const slow = publishAfter(taken.promise, 'slow')
  await slow.planned
  await context.objects.create(moduleObject('vpc-aws', 'google'))
  taken.resolve()
  await expect(slow.ended).rejects.toMatchObject({ reason: 'Unavailable' })
  expect(modules()).toEqual([['vpc-aws', 'google']])
})

it('completes a release although the API server fails in its middle, and the caller leaves', async () => {
  const release = await plannedRelease('release', ['darwin_arm64', 'linux_amd64'])
  const leaving = new AbortController()
  let created = 0
  const create: PublishContext['objects']['create'] = async (object) => {
    if (object.kind !== 'Version') return context.objects.create(object)
    created += 1
    leaving.abort()
    // The first request does not arrive, and the answer to the second one is lost.
    const answered = created === 1 ? undefined : await context.objects.create(object)
    if (created > 2 && answered !== undefined) return answered
    throw new ApiError('Unavailable', 'the API server does not answer')
  }
  const failing = { ...context, objects: { ...context.objects, create }, signal: leaving.signal }
  expect(await publishProvider(failing, release)).toBe('published')
  expect(context.objects.list('Version')).toHaveLength(2)
})
