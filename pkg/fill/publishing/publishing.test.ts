import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { awaitedPlatforms, type Version } from '../../api/v1alpha1/v1alpha1.ts'
import { defaultLimits } from '../../archives/archive/archive.ts'
import { zipOf } from '../../archives/archive/packed.fixture.ts'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { ApiError } from '../../records/kube/kube.ts'
import { folderObjects, refOf } from '../../records/store/store.ts'
import { resourceOf } from '../sync/sync.ts'
import type { ProviderPublication } from './provider.ts'
import { createVersion } from './publish.ts'
import {
  type PublishContext,
  planProvider,
  planPublication,
  publish,
  publishProvider,
} from './publishing.ts'
import { releaseOf } from './unfinished.ts'

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
    clock: () => Date.now(),
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

/** The platforms of a release, and the content of a zip, if that is not its own. */
type Platforms = readonly string[] | Readonly<Record<string, string>>

/** Plans a release. */
async function plannedRelease(name: string, platforms: Platforms, version = '1.0.0') {
  const folder = join(dir, name)
  mkdirSync(folder)
  const contents = Array.isArray(platforms)
    ? platforms.map((platform) => [platform, `${name} ${platform}`] as const)
    : Object.entries(platforms)
  for (const [platform, content] of contents) {
    const zip = await zipOf([{ path: `terraform-provider-cmdb_v${version}`, content }])
    writeFileSync(join(folder, `terraform-provider-cmdb_${version}_${platform}.zip`), zip)
  }
  return planAgain(folder)
}

function planAgain(folder: string): Promise<ProviderPublication> {
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
      await expect(publishProvider(context, second)).rejects.toMatchObject(
        objects.list('Version').length < 2 ? begun : refused,
      )
      return created
    },
  }
  const begun = {
    reason: 'ReleaseIncomplete',
    message: expect.stringContaining('started with other'),
  }
  const refused = { reason: 'VersionExists', message: expect.stringContaining('is published with') }
  expect(await publishProvider({ ...context, objects: during }, first)).toBe('published')
  const third = await plannedRelease('third', ['darwin_arm64'])
  await expect(publishProvider(context, third)).rejects.toMatchObject(refused)
  expect(objects.list('Version')).toHaveLength(2)
})

it('says what another build has, even of an archive that a person placed in storage', async () => {
  const platforms = ['linux_amd64', 'windows_amd64'] as const
  const refusalOf = async (name: string, some: Platforms) =>
    (await plannedRelease(name, some)).refusals[0]?.message
  const placed = (version: string, more: object) =>
    context.objects.create({
      kind: 'Version',
      metadata: { name: `cmdb-${version}`, namespace: 'team' },
      spec: {
        type: 'Provider',
        version,
        operatingSystem: 'linux',
        architecture: 'amd64',
        fileName: 'x.zip',
        providerConfigRef: { name: 'cmdb' },
        ...more,
      },
    })
  await publishProvider(context, await plannedRelease('first', platforms))
  await placed('2.0.0', {})
  expect(await refusalOf('second', ['linux_amd64'])).toMatch(
    /^1\.0\.0 is published with windows_amd64, which this release lacks: it has linux_amd64 \(Version \S+, SHA-256 \w{64}\), and this release has linux_amd64 \(SHA-256 \w{64}\)\./,
  )
  const third = await plannedRelease('third', ['darwin_arm64'], '2.0.0')
  expect(third.refusals[0]?.message).toMatch(
    /^2\.0\.0 is published with linux_amd64, which this release lacks: it has linux_amd64 \(Version team\/cmdb-2\.0\.0, placed in storage\), and this release has darwin_arm64 \(SHA-256 \w{64}\)\./,
  )
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

describe('a release that was started and never finished', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => vi.useRealTimers())

  const all = ['darwin_arm64', 'linux_amd64', 'windows_amd64']

  /** Creates the first platforms of a release. */
  async function begin(name: string, platforms: Platforms, number: number) {
    const release = await plannedRelease(name, platforms)
    let created = 0
    const create: PublishContext['objects']['create'] = async (object) => {
      if (object.kind === 'Version') created += 1
      if (created > number) throw new ApiError('Forbidden', 'exceeded quota')
      return context.objects.create(object)
    }
    const objects = { ...context.objects, create }
    await expect(publishProvider({ ...context, objects }, release)).rejects.toThrow('quota')
    expect(context.objects.list('Version')).toHaveLength(number)
    return release
  }

  const versions = () => context.objects.list('Version').map(({ spec }) => spec as Version['spec'])
  const digests = () => versions().map(({ upload }) => upload?.sha256)
  const publishAgain = async (release: ProviderPublication) => {
    const folder = release.archives[0]?.file.path ?? ''
    const again = await planAgain(dirname(folder))
    expect(again.refusals).toEqual([])
    return publishProvider(context, again)
  }

  /** Publishes a release, but is killed before it deletes those of another one. */
  const publishUntilDelete = async (release: ProviderPublication) => {
    const objects = {
      ...context.objects,
      delete: async () => {
        throw new ApiError('Forbidden', 'no right to delete')
      },
    }
    await expect(publishProvider({ ...context, objects }, release)).rejects.toThrow('right')
  }
  /** Platforms that are served. */
  const served = () => {
    const there = context.objects.list('Version').map((object) => resourceOf('Version', object))
    return there
      .filter((one) => awaitedPlatforms(one, there).length === 0)
      .map(({ spec }) => `${spec.operatingSystem}_${spec.architecture}`)
  }

  it('says in each Version which platforms it waits for, until all are there', async () => {
    const release = await begin('first', all, 2)
    for (const { upload } of versions()) {
      expect(upload?.release?.map(({ platform }) => platform)).toEqual(all)
    }
    expect(await publishAgain(release)).toBe('published')
    expect(versions()).toHaveLength(3)
    for (const { upload } of versions()) expect(upload?.release).toBeUndefined()
    expect(await publishAgain(release)).toBe('exists')
  })

  it.each([
    ['with the credentials of a person', {}],
    ['by a controller', { publisher: {} }],
  ])('is not served by halves if a Version is deleted while it is finished %s', async (_, by) => {
    const release = await begin('first', all, 2)
    const again = await planAgain(dirname(release.archives[0]?.file.path ?? ''))
    const [first] = context.objects.list('Version')
    if (first === undefined) throw new Error('no Version was created')
    await context.objects.delete(refOf(first))
    context = { ...context, ...by }
    await expect(publishProvider(context, again)).rejects.toMatchObject({
      reason: 'Unavailable',
      message: expect.stringContaining('darwin_arm64 was deleted while 1.0.0 was published'),
    })
    expect(served()).toEqual([])
    expect(await publishAgain(release)).toBe('published')
    expect(served().toSorted()).toEqual(all)
  })

  it('does not follow a later version that was published meanwhile', async () => {
    const release = await begin('first', all, 1)
    await publishAgain(await plannedRelease('later', ['linux_amd64'], '1.0.1'))
    const again = await planAgain(dirname(release.archives[0]?.file.path ?? ''))
    expect(again.refusals).toMatchObject([{ reason: 'OlderVersion' }])
  })

  it('is replaced by another build', async () => {
    await begin('first', all, 2)
    const second = await plannedRelease('second', all)
    expect(await publishAgain(second)).toBe('published')
    expect(new Set(digests())).toEqual(new Set(second.archives.map(({ file }) => file.sha256)))
  })

  it('can be finished only by the caller who began to replace it', async () => {
    const first = await begin('first', all, 2)
    const second = await plannedRelease('second', all)
    vi.setSystemTime(Date.now() + 90_000)
    await publishUntilDelete(second)
    expect(versions()).toHaveLength(3)
    const { refusals } = await planAgain(dirname(first.archives[0]?.file.path ?? ''))
    expect(refusals).toMatchObject([{ reason: 'ReleaseIncomplete' }])
    expect(await publishAgain(second)).toBe('published')
    expect(new Set(digests())).toEqual(new Set(second.archives.map(({ file }) => file.sha256)))
  })

  it('stays for a minute, so that its publisher can finish it, if several processes publish', async () => {
    const first = await begin('first', all, 2)
    const objects = { ...context.objects, isFolder: false }
    context = { ...context, objects, publisher: {} }
    const second = () => planAgain(join(dir, 'second'))
    const { refusals } = await plannedRelease('second', all)
    expect(refusals).toMatchObject([{ reason: 'ReleaseIncomplete' }])
    const message = refusals[0]?.message ?? ''
    for (const release of [first, await second()]) {
      expect(message).toContain(release.archives[0]?.file.sha256)
    }
    expect(message).toContain('because it lacks windows_amd64')
    vi.setSystemTime(Date.now() + 90_000)
    expect(await publishProvider(context, await second())).toBe('published')
    expect(versions().map(({ upload }) => upload?.release?.length)).toEqual([3, 3, 3])
  })

  it('is not replaced with the credentials of a person, who may not delete Versions', async () => {
    await begin('first', all, 1)
    context = { ...context, objects: { ...context.objects, isFolder: false } }
    vi.setSystemTime(Date.now() + 90_000)
    const { refusals } = await plannedRelease('second', all)
    expect(refusals).toMatchObject([
      {
        reason: 'ReleaseIncomplete',
        message: expect.stringContaining('or delete Version team/cmdb-1-0-0-darwin-arm64 first'),
      },
    ])
  })

  it('is not replaced by a release that has none of its missing platforms', async () => {
    await begin('first', ['darwin_arm64', 'linux_amd64'], 1)
    const second = await plannedRelease('second', ['darwin_arm64'])
    expect(second.refusals).toMatchObject([{ reason: 'ReleaseIncomplete' }])
    const message = second.refusals[0]?.message ?? ''
    expect(message).toMatch(
      /it has darwin_arm64 \(Version team\/cmdb-1-0-0-darwin-arm64, SHA-256 \w{64}\), and this release has darwin_arm64 \(SHA-256 \w{64}\)/,
    )
    expect(message).toContain('or delete Version team/cmdb-1-0-0-darwin-arm64 first')
  })

  it('removes its Versions if another build is published while it is created', async () => {
    const first = await plannedRelease('first', all)
    const other = await plannedRelease('other', ['windows_amd64'])
    const objects: PublishContext['objects'] = {
      ...context.objects,
      async create(object) {
        const created = await context.objects.create(object)
        const isFirst = context.objects.list('Version').length === 1
        if (object.kind === 'Version' && isFirst) {
          for (const archive of other.archives) await createVersion(context, other.target, archive)
        }
        return created
      },
    }
    await expect(publishProvider({ ...context, objects }, first)).rejects.toMatchObject({
      reason: 'VersionExists',
    })
    expect(digests()).toEqual(other.archives.map(({ file }) => file.sha256))
  })

  /** Builds of which only the zip for Windows differs. */
  const builds = [
    { linux_amd64: 'same', windows_amd64: 'signed first' },
    { linux_amd64: 'same', windows_amd64: 'signed second' },
  ] as const

  it('is not completed by a build that has some of its zips, nor completes that one', async () => {
    const [one, two] = builds
    await begin('first', one, 1)
    const second = await plannedRelease('second', two)
    await publishUntilDelete(second)
    expect(versions()).toHaveLength(2)
    expect(served()).toEqual([])
    expect(await publishAgain(second)).toBe('published')
    expect(new Set(digests())).toEqual(new Set(second.archives.map(({ file }) => file.sha256)))
    expect(served()).toHaveLength(2)
  })

  it('wins over a build with some of its zips that begins at the same moment', async () => {
    const [one, two] = builds
    const first = await plannedRelease('first', one)
    const second = await plannedRelease('second', two)
    const [linux] = first.archives
    if (linux === undefined) throw new Error('the release has no zips')
    const objects: PublishContext['objects'] = {
      ...context.objects,
      async create(object) {
        if (object.kind === 'Version' && versions().length === 0) {
          await createVersion(context, first.target, linux, { release: releaseOf(first.archives) })
        }
        return context.objects.create(object)
      },
    }
    await expect(publishProvider({ ...context, objects }, second)).rejects.toMatchObject({
      reason: 'ReleaseIncomplete',
      message: expect.stringContaining('was just published with another build of 1.0.0'),
    })
    expect(versions().map(({ operatingSystem }) => operatingSystem)).toEqual(['linux'])
    expect(await publishAgain(first)).toBe('published')
  })

  it('is not replaced by the same zips and another one, which would complete it', async () => {
    const contents = { darwin_arm64: 'a', linux_amd64: 'b', windows_amd64: 'c' }
    await begin('first', contents, 2)
    const second = await plannedRelease('second', { ...contents, freebsd_amd64: 'd' })
    expect(second.refusals).toMatchObject([{ reason: 'ReleaseIncomplete' }])
  })

  it.each([
    ['of several platforms', ['linux_amd64', 'windows_amd64']],
    ['of one platform', ['linux_amd64']],
  ])('is removed by the next run of a release %s that is served', async (_, platforms) => {
    await begin('first', all, 1)
    const second = await plannedRelease('second', platforms)
    await publishUntilDelete(second)
    expect(served()).toEqual(platforms)
    expect(await publishAgain(second)).toBe('exists')
    expect(digests()).toEqual(second.archives.map(({ file }) => file.sha256))
  })
})
