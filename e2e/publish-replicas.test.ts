import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Server } from '../hack/testbed/server/server.ts'
import { tarGzOf, zipOf } from '../pkg/archives/archive/packed.fixture.ts'
import { digestOf, PublishingRegistry } from './publishing.fixture.ts'

/* Two replicas of the server, each with another controller, publish two builds of one version while a third controller ends. */

const publishing = new PublishingRegistry()
const storageConfig = { fileSystem: { directoryPath: 'team' } }
const platforms = ['darwin_arm64', 'linux_amd64', 'windows_amd64']
const replicas: { controller: Server; server: Server }[] = []

beforeAll(async () => {
  await publishing.start(async (cluster) => {
    await cluster.apply('Provider', 'team', 'cmdb', { spec: { providerConfig: { storageConfig } } })
    await cluster.apply('Module', 'team', 'vpc', {
      spec: { moduleConfig: { name: 'vpc', provider: 'aws', storageConfig } },
    })
    return []
  })
  for (const name of ['one', 'other']) {
    publishing.cluster.spool = join(publishing.cluster.dir, name)
    replicas.push(await publishing.startReplica())
  }
  await Promise.all(
    replicas.map(({ server }) =>
      vi.waitUntil(
        async () =>
          (await put(server, 'modules/none/none/aws/1.0.0', Buffer.alloc(0))).status < 500,
        { timeout: 60_000 },
      ),
    ),
  )
})
afterAll(async () => {
  for (const { controller, server } of replicas) {
    await server.stop()
    await controller.stop()
  }
  await publishing.stop()
})

const put = (to: Server, path: string, body: Buffer) => publishing.put(path, body, { to })

/** Sends all files of a build except `finish`. */
async function stage(to: Server, version: string, content: string, some = platforms) {
  const stem = `terraform-provider-cmdb_${version}`
  const digests: string[] = []
  for (const platform of some) {
    const text = `${content} ${platform}`
    const zip = await zipOf([{ path: `terraform-provider-cmdb_v${version}`, content: text }])
    digests.push(digestOf(zip))
    const path = `providers/team/cmdb/${version}/${stem}_${platform}.zip`
    expect(await put(to, path, zip)).toMatchObject({ status: 201 })
  }
  return digests
}

const finish = (to: Server, version: string) =>
  publishing.put(`providers/team/cmdb/${version}/finish`, Buffer.alloc(0), { method: 'POST', to })

interface Stored {
  readonly spec: { readonly version: string; readonly upload: { readonly sha256: string } }
}

async function stored(version: string): Promise<readonly string[]> {
  const all = (await publishing.cluster.list('Version', 'team')) as unknown as readonly Stored[]
  return all
    .filter(({ spec }) => spec.version === version)
    .map(({ spec }) => spec.upload.sha256)
    .toSorted()
}

type Answers = readonly Awaited<ReturnType<typeof put>>[]

/** The results of two publications of one version. @param builds digests of each */
async function endOf(version: string, answers: Answers, builds: readonly (readonly string[])[]) {
  const winner = answers.findIndex(({ status }) => status === 201)
  const refusal = answers[1 - winner]?.body.errors?.join() ?? ''
  return {
    statuses: new Set(answers.map(({ status }) => status)),
    namesBoth: builds.every((digests) => digests.some((digest) => refusal.includes(digest))),
    isWinnerStored: isDeepStrictEqual(
      await stored(version),
      [...(builds[winner] ?? [])].toSorted(),
    ),
  }
}

const oneWins = { statuses: new Set([201, 409]), namesBoth: true, isWinnerStored: true }

it.each(['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0'])(
  'publish one of two builds of provider %s',
  async (version) => {
    const builds = await Promise.all(
      replicas.map(({ server }, index) => stage(server, version, `build ${index}`)),
    )
    const answering = Promise.all(replicas.map(({ server }) => finish(server, version)))
    // The first holder of the lease ends. Replicas that take it over lose it again.
    const handover = version === '1.0.0' ? publishing.controller.stop() : loseLease()
    expect(await endOf(version, await answering, builds)).toEqual(oneWins)
    await handover
  },
)

it.each(['1.5.0', '1.6.0', '1.7.0'])(
  'publish one of two builds of provider %s that have no platform in common',
  async (version) => {
    const builds = await Promise.all(
      replicas.map(({ server }, index) =>
        stage(server, version, `build ${index}`, index === 0 ? ['linux_amd64'] : ['windows_amd64']),
      ),
    )
    const answers = await Promise.all(replicas.map(({ server }) => finish(server, version)))
    expect(await endOf(version, answers, builds)).toEqual(oneWins)
  },
)

it.each(['2.0.0', '2.1.0', '2.2.0', '2.3.0', '2.4.0'])(
  'publish one of two builds of module %s',
  async (version) => {
    const archives = await Promise.all(
      replicas.map((_, index) => tarGzOf([{ path: 'main.tf', content: `# build ${index}\n` }])),
    )
    const answering = Promise.all(
      replicas.map(({ server }, index) =>
        put(server, `modules/team/vpc/aws/${version}`, archives[index] ?? Buffer.alloc(0)),
      ),
    )
    const handover = loseLease()
    const answers = await answering
    await handover
    const digests = answers.flatMap(({ body }) => [
      ...new Set((body.sha256 ?? body.errors.join()).match(/[0-9a-f]{64}/g)),
    ])
    const [own] = await stored(version)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]))
    // The platforms of the winner, and both of the other.
    expect([new Set(digests).size, digests.filter((digest) => digest === own).length]).toEqual([
      2, 2,
    ])
    expect(await stored(version)).toHaveLength(1)
  },
)

const loseLease = () => publishing.cluster.forgetLease()
