import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { defaultLimits } from '../../archives/archive/archive.ts'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { folderObjects, proposedObjects, type StoredRef } from '../../records/store/store.ts'
import { FillError } from '../sources/sources.ts'
import { Scene } from '../sync/scene.fixture.ts'
import { folderPlace } from '../sync/upstreams.fixture.ts'
import { asJson, asMarkdown, asText, hasDifferences, type PlannedChange, plan } from './planning.ts'

const url = 'https://git.test/platform/vpc.git'
const storageConfig = { fileSystem: { directoryPath: 'depot' } }
const log = createLogger('silent')
const apiGroup = 'depot.internal'
const tags = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, minor) => [`v1.${minor}.0`, `${minor}`]))
let dir: string
let scene: Scene

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'depot-plan-'))
  scene = await Scene.open(folderPlace(dir), 'team')
})
afterEach(async () => {
  await scene.close()
  await rm(dir, { recursive: true, force: true })
})

const writeDepot = (config: object = {}, spec: object = {}) =>
  scene.write('Depot', 'main', {
    global: { storageConfig, moduleConfig: { provider: 'aws' } },
    moduleConfigs: [{ name: 'vpc', source: { type: 'git', url }, ...config }],
    ...spec,
  })

/** Plans what the folder asks for, without a program that writes to it. */
async function planned(
  options: { asked?: readonly StoredRef[]; file?: string; verify?: boolean } = {},
): Promise<PlannedChange[]> {
  await scene.stop()
  const objects = await folderObjects({ dir, apiGroup, watch: false, log })
  const proposed =
    options.file === undefined ? [] : (await proposedObjects(options.file, apiGroup)).objects
  const never = Number.POSITIVE_INFINITY
  return plan({
    objects,
    proposed,
    orphans: objects.orphans(),
    asked: options.asked,
    sources: scene.upstream,
    archives: openArchiveStore({ filesystemMountPath: scene.storage }),
    spool: scene.spool,
    limits: defaultLimits,
    apiGroup,
    confirmRemovals: false,
    clock: () => Date.now() + scene.aheadMs,
    ...(options.verify === true
      ? { verifyAtStart: 'look' as const }
      : { timings: { verifyMs: never, rehashMs: never } }),
    log,
    metrics: createMetrics({ version: 'test' }),
  })
}

async function filesOf(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  return Promise.all(
    files.toSorted().map(async (file) => `${file}\n${await readFile(file, 'utf8')}`),
  )
}

const brief = (changes: readonly PlannedChange[]) =>
  changes.map(({ action, kind, name, versions = [] }) =>
    [action, kind, name, ...versions].join(' '),
  )

it('says what a first sync creates and fetches, and a second one does not', async () => {
  scene.upstream.repository(url, tags(3))
  scene.upstream.provider('acme/dns', { '2.0.0': { platforms: ['linux/amd64', 'linux/arm64'] } })
  await writeDepot(
    {},
    { providerConfigs: [{ name: 'dns', namespace: 'acme', signature: 'IfPresent' }] },
  )
  const before = await filesOf(dir)
  expect(brief(await planned())).toEqual([
    'create Module vpc',
    'fetch Module vpc 1.0.0 1.1.0 1.2.0',
    'create Provider dns',
    'fetch Provider dns 2.0.0 linux/amd64 2.0.0 linux/arm64',
  ])
  expect(await filesOf(dir)).toEqual(before)
  expect(scene.upstream.asked.filter((one) => one.startsWith('fetch'))).toEqual([])
  expect(await scene.stored()).toEqual([])
  await scene.run()
  expect(await scene.stored()).toHaveLength(6)
  expect(await planned()).toEqual([])
  expect(asText([])).toBe('No changes: everything matches the manifests.\n')
})

it('says what a changed constraint fetches, changes, removes and holds', async () => {
  scene.upstream.repository(url, tags(20))
  await writeDepot({ versionConstraints: '>= 1.10.0' })
  await scene.run()
  await writeDepot({ versionConstraints: '>= 1.8.0, != 1.15.0' })
  expect(brief(await planned())).toEqual([
    'change Module vpc',
    'fetch Module vpc 1.8.0 1.9.0',
    'remove Module vpc 1.15.0',
  ])
  await writeDepot({ versionConstraints: '~> 10.0' })
  const changes = await planned()
  expect(brief(changes)).toEqual(['change Module vpc', 'hold Module vpc'])
  expect(asText(changes)).toContain('depot sync --confirm-removals')
  expect(asText(changes)).toContain('Plan: 1 to change, 1 held.\n')
})

it('tells which versions are too young, which changes nothing', async () => {
  scene.upstream.repository(url, tags(1))
  await writeDepot({}, { policy: { minimumAge: '7d' } })
  await scene.run()
  const changes = await planned()
  expect(brief(changes)).toEqual(['wait Module vpc v1.0.0'])
  expect(hasDifferences(changes)).toBe(false)
  expect(asText(changes)).toMatch(
    /^\? Module team\/vpc: hold back v1\.0\.0: too young until 20.*\nPlan: 1 held back\.\n$/,
  )
})

it('says by whose exception a version comes in, until it is in', async () => {
  const exceptions = [
    { address: 'git.test/platform/vpc', version: '1.0.0', reason: 'CVE-1', by: 'Ann' },
  ]
  scene.upstream.repository(url, tags(1))
  await writeDepot({}, { policy: { minimumAge: '7d', exceptions } })
  expect(asText(await planned())).toContain(
    '! Depot team/main: let in despite the policy 1.0.0: git.test/platform/vpc, by the exception of Ann: CVE-1\n',
  )
  await scene.run()
  expect(await planned()).toEqual([])
})

it('says why a stored version stays when its new source has content that is too young', async () => {
  const fork = 'https://git.test/fork.git'
  const policy = { minimumAge: '7d' }
  scene.upstream.repository(url, tags(1))
  await writeDepot({}, { policy })
  await scene.run()
  scene.aheadMs += 8 * 86_400_000
  await scene.run({ pollAtStart: true })
  expect(await scene.stored()).toHaveLength(1)
  scene.upstream.repository(fork, { 'v1.0.0': 'other' })
  await writeDepot({ source: { type: 'git', url: fork } }, { policy })
  scene.upstream.faults.set(`resolve ${fork} v1.0.0`, new FillError('FetchFailed', 'too slow'))
  await scene.run()
  scene.upstream.faults.clear()
  scene.upstream.repository(fork, { 'v1.0.0': 'stolen' })
  scene.aheadMs += 3_600_000
  const wait = expect.stringMatching(
    /^git\.test\/fork has other content under v?1\.0\.0 than the stored archive, which is still served. The new content is stored once it is old enough, too/,
  ) as string
  expect(await planned()).toContainEqual(
    expect.objectContaining({ action: 'wait', kind: 'Module', message: wait }),
  )
  await scene.run({ pollAtStart: true })
  expect(scene.condition('Version', 'vpc-1-0-0', 'Drifted')).toMatchObject({
    status: 'True',
    message: wait,
  })
  expect(scene.condition('Version', 'vpc-1-0-0', 'Ready')).toMatchObject({ status: 'True' })
  scene.aheadMs += 8 * 86_400_000
  await scene.run({ pollAtStart: true })
  expect(scene.condition('Version', 'vpc-1-0-0', 'Drifted')).toMatchObject({ status: 'False' })
  expect(scene.status('Version', 'vpc-1-0-0').artifact?.address).toBe('git.test/fork')
})

it.each([
  ['a removed config', { moduleConfigs: [] }, ['release Module vpc']],
  [
    'a removed config of a Depot that deletes',
    { moduleConfigs: [], deletionPolicy: 'Delete' },
    ['remove Module vpc', 'remove Module vpc 1.0.0 1.1.0'],
  ],
] as const)('says what happens to the resources of %s', async (_, spec, expected) => {
  scene.upstream.repository(url, tags(2))
  await writeDepot()
  await scene.run()
  await writeDepot({}, spec)
  const changes = await planned()
  const deletes = changes.filter(({ action, kind }) => action === 'change' && kind === 'Depot')
  expect(deletes).toEqual([])
  expect(brief(changes)).toEqual(expected)
})

it('says what is removed with the file of a Module', async () => {
  scene.upstream.repository(url, tags(1))
  const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }
  await scene.write('Module', 'vpc', { moduleConfig, versions: [{ version: '1.0.0' }] })
  await scene.run()
  await scene.stop()
  await scene.remove('Module', 'vpc')
  expect(brief(await planned())).toEqual(['remove Module vpc 1.0.0'])
})

it('plans a file that is not in the folder, and nothing else', async () => {
  scene.upstream.repository(url, tags(1))
  scene.upstream.repository('https://git.test/platform/eks.git', tags(2))
  await writeDepot()
  await scene.stop()
  const elsewhere = await mkdtemp(join(tmpdir(), 'depot-plan-file-'))
  const other = folderPlace(elsewhere)
  const source = { type: 'git', url: 'https://git.test/platform/eks.git' }
  await other.write({
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Depot',
    metadata: { name: 'more', namespace: 'team' },
    spec: { global: { storageConfig }, moduleConfigs: [{ name: 'eks', provider: 'aws', source }] },
  })
  const asked = [{ kind: 'Depot', namespace: 'team', name: 'more' }] as const
  const changes = await planned({ file: elsewhere, asked })
  await rm(elsewhere, { recursive: true })
  expect(brief(changes)).toEqual([
    'create Depot more',
    'create Module eks',
    'fetch Module eks 1.0.0 1.1.0',
  ])
  expect(scene.upstream.asked).not.toContain(`list ${url}`)
})

it('says nothing of a refused version until its policy is taken back', async () => {
  const input = (name: string) => ({ 'main.tf': `variable "${name}" {}\n` })
  const all = { 'v1.0.0': input('cidr'), 'v1.1.0': input('name') }
  scene.upstream.repositories.set(url, new Map(Object.entries(all)))
  await writeDepot({ versionPolicy: 'Enforce' })
  await scene.run()
  expect(scene.condition('Version', 'vpc-1-1-0', 'Ready')).toMatchObject({
    reason: 'BreakingChange',
  })
  expect(brief(await planned())).toEqual([])
  await writeDepot({ versionPolicy: 'Warn' })
  expect(brief(await planned())).toEqual(
    expect.arrayContaining(['fetch Module vpc 1.1.0']) as string[],
  )
})

it('reports what fails with its reason, and what upstream lacks', async () => {
  scene.upstream.repository(url, tags(1))
  scene.upstream.faults.set(
    'https://git.test/none.git',
    new FillError('UpstreamNotFound', 'no repository'),
  )
  scene.upstream.provider('acme/dns', { '2.0.0': { platforms: ['linux/amd64'] } })
  const git = (of: string) => ({ type: 'git', url: of })
  await scene.write('Depot', 'main', {
    global: { storageConfig },
    moduleConfigs: [{ name: 'none', provider: 'aws', source: git('https://git.test/none.git') }],
  })
  const moduleConfig = { provider: 'aws', source: git(url), storageConfig }
  const versions = [{ version: '1.0.0' }, { version: '9.0.0' }]
  await scene.write('Module', 'vpc', { moduleConfig, versions })
  await scene.write('Provider', 'dns', {
    providerConfig: { name: 'dns', namespace: 'acme', storageConfig, operatingSystems: ['plan9'] },
    versions: [{ version: '2.0.0' }],
  })
  const changes = await planned()
  expect(brief(changes)).toEqual([
    'fail Depot main',
    'fetch Module vpc 1.0.0',
    'fail Module vpc 9.0.0',
    'skip Provider dns 2.0.0 plan9/*',
  ])
  expect(asText(changes)).toBe(`x Depot team/main: Module none: no repository
+ Module team/vpc: fetch 1.0.0
x Module team/vpc: 9.0.0: there is no tag 9.0.0
? Provider team/dns: skip 2.0.0 plan9/*: upstream does not have this platform
Plan: 1 to fetch, 1 skipped, 2 failed.
`)
  expect(asMarkdown(changes)).toContain(
    '| `x` | Module team/vpc | 9.0.0: there is no tag 9.0.0 |\n',
  )
  expect(JSON.parse(asJson(changes))).toMatchObject({
    schema: 1,
    summary: { fetch: 1, skip: 1, fail: 2 },
    changes: [{ action: 'fail', kind: 'Depot', namespace: 'team', name: 'main' }, {}, {}, {}],
  })
})

it('tells a lost archive, and a tag that was moved, as the policy of the module decides', async () => {
  scene.upstream.repository(url, tags(3))
  await writeDepot()
  await scene.run()
  const [first = ''] = await scene.stored()
  await rm(join(scene.storage, first))
  expect(await planned()).toEqual([])
  expect(brief(await planned({ verify: true }))).toEqual(['restore Module vpc 1.0.0'])
  scene.upstream.repository(url, { ...tags(3), 'v1.1.0': 'other' })
  expect(brief(await planned())).toEqual(['drift Module vpc 1.1.0'])
  await writeDepot({ immutable: false })
  expect(brief(await planned())).toEqual(['change Module vpc', 'replace Module vpc 1.1.0'])
})

it('says that archives are copied when their storage changes', async () => {
  scene.upstream.repository(url, tags(2))
  await writeDepot()
  await scene.run()
  const moved = { fileSystem: { directoryPath: 'elsewhere' } }
  await writeDepot({ storageConfig: moved })
  expect(brief(await planned())).toEqual(['change Module vpc', 'move Module vpc 1.0.0 1.1.0'])
})

it.each([
  ['missing', undefined],
  ['empty', ''],
])('says that the archive of a Version whose file is %s is taken back', async (_, text) => {
  scene.upstream.repository(url, tags(3))
  await writeDepot()
  await scene.run()
  await scene.stop()
  const file = join(dir, 'versions/team/vpc-1-0-0.yaml')
  await (text === undefined ? rm(file) : writeFile(file, text))
  expect(brief(await planned())).toEqual(['return Module vpc 1.0.0'])
  expect(asText(await planned())).toContain('+ Module team/vpc: take back from storage 1.0.0\n')
  const [archive = ''] = await scene.stored()
  await rm(join(scene.storage, archive))
  expect(brief(await planned())).toEqual(['fetch Module vpc 1.0.0'])
  expect(await readdir(join(dir, '.depot-removals'))).toEqual(['stored.json'])
})

it('tells lost documentation and a lost README', async () => {
  scene.upstream.repository(url, tags(3))
  await writeDepot()
  await scene.run()
  expect(await planned({ verify: true })).toEqual([])
  const [docs = ''] = await scene.documentation()
  await rm(join(scene.storage, docs))
  expect(brief(await planned({ verify: true }))).toEqual(['document Module vpc 1.0.0'])
  await scene.run({ verifyAtStart: 'look' })
  expect(await planned({ verify: true })).toEqual([])
})
