import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { awaitedPlatforms } from '../../api/v1alpha1/v1alpha1.ts'
import { defaultLimits } from '../../archives/archive/archive.ts'
import { zipOf } from '../../archives/archive/packed.fixture.ts'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import { messageOf, ReasonError } from '../../base/errors/errors.ts'
import { resourceOf } from '../sync/sync.ts'
import { planProvider, publishProvider } from './publishing.ts'
import { KilledError, Meeting, RacingCluster, type RacingProcess } from './racing.fixture.ts'

const root = mkdtempSync(join(tmpdir(), 'depot-racing-'))
afterAll(() => rmSync(root, { recursive: true }))

/** `DEPOT_RACES=1000` asks for more. */
const races = Number(process.env['DEPOT_RACES'] || 10)
const firstSeed = Number(process.env['DEPOT_RACES_SEED'] || 1)
const all = ['darwin_arm64', 'freebsd_amd64', 'linux_amd64', 'windows_amd64']

/** mulberry32 */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Writes the zips of a build. */
async function build(name: string, platforms: readonly string[]): Promise<string> {
  const folder = join(root, name)
  mkdirSync(folder)
  for (const platform of platforms) {
    const content = `${name} ${platform}`
    const zip = await zipOf([{ path: 'terraform-provider-cmdb_v1.0.0', content }])
    writeFileSync(join(folder, `terraform-provider-cmdb_1.0.0_${platform}.zip`), zip)
  }
  return folder
}

const archives = openArchiveStore({ filesystemMountPath: join(root, 'archives') })
const workDir = join(root, 'work')
mkdirSync(workDir)
mkdirSync(join(root, 'archives'))

interface Build {
  readonly name: string
  readonly folder: string
  readonly platforms: readonly string[]
}

/** Publishes a build from one process. */
async function publish(cluster: RacingCluster, by: RacingProcess, { folder }: Build) {
  const context = {
    objects: by.objects(),
    archives,
    limits: defaultLimits.provider,
    workDir,
    signal: new AbortController().signal,
    clock: () => cluster.nowMs,
    publisher: {},
  }
  const address = { namespace: 'team', name: 'cmdb' }
  const storage = { fileSystem: { directoryPath: 'providers' } }
  try {
    const asked = { folder, address, version: undefined, storage }
    const publication = await planProvider(context, asked)
    await cluster.wait()
    return { outcome: await publishProvider(context, publication), message: '' }
  } catch (error) {
    if (error instanceof KilledError) return { outcome: 'killed', message: '' }
    if (!(error instanceof ReasonError)) throw error
    return { outcome: error.reason, message: messageOf(error) }
  }
}

/** Names of the builds whose zips are served, and their platforms. */
function served(cluster: RacingCluster, builds: readonly Build[], digests: Map<string, string>) {
  const versions = [...cluster.objects.values()]
    .filter(({ kind }) => kind === 'Version')
    .map((object) => resourceOf('Version', object))
  const there = versions.filter((one) => awaitedPlatforms(one, versions).length === 0)
  return builds.flatMap(({ name }) => {
    const own = there
      .map(({ spec }) => digests.get(spec.upload?.sha256 ?? '') ?? '')
      .filter((what) => what.startsWith(`${name} `))
      .map((what) => what.split(' ')[1] ?? '')
    return own.length === 0 ? [] : [[name, own.toSorted()] as const]
  })
}

async function digestsOf(builds: readonly Build[]): Promise<Map<string, string>> {
  const cluster = new RacingCluster(() => 0)
  cluster.create('Provider team/cmdb', provider)
  const digests = new Map<string, string>()
  for (const { name, folder } of builds) {
    const objects = cluster.start().objects()
    const address = { namespace: 'team', name: 'cmdb' }
    const { signal } = new AbortController()
    const planned = await planProvider(
      {
        objects,
        archives,
        limits: defaultLimits.provider,
        workDir,
        signal,
        clock: () => 0,
      },
      { folder, address, version: undefined, storage: undefined },
    )
    for (const { file, platform } of planned.archives) {
      digests.set(file.sha256, `${name} ${platform.os}_${platform.arch}`)
    }
  }
  return digests
}

const provider = {
  kind: 'Provider',
  metadata: { name: 'cmdb', namespace: 'team' },
  spec: {
    providerConfig: { storageConfig: { fileSystem: { directoryPath: 'providers' } } },
    versions: [],
  },
} as const

/** Two builds of one version, and a cluster to which both are published. */
async function race(seed: number, killOne: boolean) {
  const random = seeded(seed)
  const pick = (): string[] => {
    const some = all.filter(() => random() < 0.5)
    return some.length === 0 ? [all[Math.floor(random() * all.length)] ?? ''] : some
  }
  const builds: Build[] = []
  for (const side of ['one', 'two']) {
    const name = `${side}-${seed}-${killOne}`
    const platforms = pick()
    builds.push({ name, platforms, folder: await build(name, platforms) })
  }
  const digests = await digestsOf(builds)
  const cluster = new RacingCluster(random)
  cluster.create('Provider team/cmdb', provider)
  const processes = builds.map(() => cluster.start())
  if (killOne) {
    const [victim] = processes
    if (victim !== undefined) victim.writesLeft = Math.floor(random() * 5)
  }
  // Mostly they begin to create at one moment, which chance alone would hardly hit.
  const meeting = random() < 0.8 ? new Meeting(processes.length) : undefined
  const ended = await Promise.all(
    processes.map(async (by, at) => {
      by.meeting = meeting
      const one = builds[at]
      if (one === undefined) throw new TypeError('there is a build for each process')
      const end = await publish(cluster, by, one)
      if (by.meeting !== undefined) void meeting?.arrive()
      return end
    }),
  )
  return { random, builds, digests, cluster, ended }
}

it(`publishes one of two builds that are sent at the same moment, and names both digests to the other, in ${races} orders`, async () => {
  for (let seed = firstSeed; seed < firstSeed + races; seed += 1) {
    const { builds, digests, cluster, ended } = await race(seed, false)
    const won = builds.filter((_, at) => ended[at]?.outcome === 'published')
    const lost = ended.filter(({ outcome }) => outcome !== 'published')
    const what = { seed, ended, platforms: builds.map(({ platforms }) => platforms.join()) }
    expect({ ...what, won: won.length, served: served(cluster, builds, digests) }).toEqual({
      ...what,
      won: 1,
      served: won.map(({ name, platforms }) => [name, platforms]),
    })
    for (const { outcome, message } of lost) {
      expect(['VersionExists', 'ReleaseIncomplete']).toContain(outcome)
      const sides = new Set(
        (message.match(/[0-9a-f]{64}/g) ?? []).map((sha) => digests.get(sha)?.split(' ')[0]),
      )
      expect({ ...what, sides }).toMatchObject({ sides: new Set(builds.map(({ name }) => name)) })
    }
  }
})

it(`serves one of two builds whole after one process was killed and both were sent again, in ${races} orders`, async () => {
  for (let seed = firstSeed; seed < firstSeed + races; seed += 1) {
    const { random, builds, digests, cluster, ended } = await race(seed, true)
    cluster.nowMs += 90_000
    const again = random() < 0.5 ? builds : builds.toReversed()
    const outcomes: unknown[] = []
    for (const one of again) outcomes.push(await publish(cluster, cluster.start(), one))
    const what = { seed, ended, outcomes, platforms: builds.map(({ platforms }) => platforms) }
    const shown = served(cluster, builds, digests)
    const whole = builds
      .filter(({ name }) => name === shown[0]?.[0])
      .map(({ name, platforms }) => [name, platforms])
    expect({ ...what, count: shown.length, shown }).toEqual({ ...what, count: 1, shown: whole })
  }
})
