import { request } from 'node:http'
import { join } from 'node:path'
import { createMessage, readPrivateKey, sign } from 'openpgp'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { depotCommand, put as write } from '../cmd/import/import.fixture.ts'
import { onTerminal } from '../hack/testbed/cli/terminal.ts'
import { zipOf } from '../pkg/archives/archive/packed.fixture.ts'
import { generateSigningKey } from '../pkg/archives/signing/signing.ts'
import { digestOf, PublishingRegistry } from './publishing.fixture.ts'
import type { ControlledCluster } from './sync/controlled-cluster.fixture.ts'

/* Releases of providers over HTTP: a server forwards to a controller with the rights of the chart. */

const publishing = new PublishingRegistry()
const storageConfig = { fileSystem: { directoryPath: 'team' } }

beforeAll(async () => {
  await publishing.start(async (cluster) => {
    await cluster.apply('Provider', 'team', 'cmdb', { spec: { providerConfig: { storageConfig } } })
    await beginRelease(cluster)
    return []
  })
})
afterAll(() => publishing.stop())

/** Creates a Version of a release that is never finished. */
async function beginRelease(cluster: ControlledCluster): Promise<void> {
  const release = ['darwin_arm64', 'linux_amd64'].map((platform) => ({
    platform,
    sha256: digestOf(Buffer.from(platform)),
  }))
  await cluster.apply('Version', 'team', 'cmdb-0-9-0-darwin-arm64', {
    spec: {
      type: 'Provider',
      version: '0.9.0',
      operatingSystem: 'darwin',
      architecture: 'arm64',
      providerConfigRef: { name: 'cmdb', storageConfig },
      upload: { fileName: 'begun.zip', sha256: release[0]?.sha256, release },
    },
  })
}

const stemOf = (version: string) => `terraform-provider-cmdb_${version}`

/** The files of a release, by their names. */
async function releaseOf(
  version: string,
  content = 'one',
  platforms = ['linux_amd64', 'darwin_arm64'],
) {
  const stem = stemOf(version)
  const files = new Map<string, Buffer>()
  const sums: string[] = []
  for (const platform of platforms) {
    const zip = await zipOf([
      { path: `terraform-provider-cmdb_v${version}`, content: `${content} ${platform}` },
      { path: 'docs/index.md', content: '# cmdb\n' },
    ])
    files.set(`${stem}_${platform}.zip`, zip)
    sums.push(`${digestOf(zip)}  ${stem}_${platform}.zip\n`)
  }
  files.set(`${stem}_SHA256SUMS`, Buffer.from(sums.join('')))
  files.set(`${stem}_manifest.json`, Buffer.from('{"metadata": {"protocol_versions": ["6.0"]}}'))
  return files
}

type Files = ReadonlyMap<string, Buffer>

async function stage(version: string, files: Files, as?: string): Promise<number[]> {
  const statuses: number[] = []
  for (const [name, bytes] of files) {
    const path = `providers/team/cmdb/${version}/${name}`
    const { status } = await publishing.put(path, bytes, { ...(as !== undefined && { as }) })
    statuses.push(status)
  }
  return statuses
}

const finish = (version: string, files?: Files, as?: string) =>
  publishing.put(
    `providers/team/cmdb/${version}/finish`,
    Buffer.from(files === undefined ? '' : JSON.stringify({ files: digestsOf(files) })),
    { method: 'POST', ...(as !== undefined && { as }) },
  )

const digestsOf = (files: Files) =>
  Object.fromEntries(Array.from(files, ([name, bytes]) => [name, digestOf(bytes)]))

interface Listed {
  readonly versions: readonly {
    readonly version: string
    readonly platforms: readonly unknown[]
  }[]
}

/** Number of platforms of a version that the server serves. */
async function served(version: string): Promise<number> {
  const answer = await publishing.get('/depot/providers/v1/team/cmdb/versions')
  const { versions } = (await answer.json()) as Listed
  return versions.find((one) => one.version === version)?.platforms.length ?? 0
}

it('says for a minute that a release was begun and not finished, and then lets another build replace it', async () => {
  expect(await served('0.9.0')).toBe(0)
  const files = await releaseOf('0.9.0')
  await stage('0.9.0', files)
  const early = await finish('0.9.0', files)
  expect(early.status).toBe(409)
  expect(early.body.errors.join()).toContain('because it lacks linux_amd64')
  const ended = await vi.waitUntil(
    async () => {
      const answer = await finish('0.9.0', files)
      return answer.status !== 409 && answer
    },
    { timeout: 90_000, interval: 500 },
  )
  expect(ended).toMatchObject({ status: 201, body: { outcome: 'published' } })
  expect(await served('0.9.0')).toBe(2)
  const versions = await publishing.cluster.list('Version', 'team')
  const names = versions.map(({ metadata }) => metadata.name)
  expect(names.filter((name) => name.startsWith('cmdb-0-9-0-'))).toEqual([
    'cmdb-0-9-0-darwin-arm64',
    'cmdb-0-9-0-linux-amd64',
  ])
})

it('publishes a release once all of it has arrived, and the server that answers serves it', async () => {
  const files = await releaseOf('1.0.0')
  expect(await stage('1.0.0', files)).toEqual([201, 201, 201, 201])
  expect(await served('1.0.0')).toBe(0)
  expect(await finish('1.0.0')).toMatchObject({ status: 201, body: { outcome: 'published' } })
  expect(await served('1.0.0')).toBe(2)
  expect(await finish('1.0.0', files)).toMatchObject({ status: 200, body: { outcome: 'exists' } })
  const line = publishing.controller.log.findLast((one) =>
    one.includes('"msg":"provider published"'),
  )
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    name: 'cmdb',
    version: '1.0.0',
    platforms: ['linux_amd64', 'darwin_arm64'],
    by: 'publisher',
  })
})

it('lets one of two concurrent publishers of a version win, and tells the other both digests', async () => {
  const callers = [
    await publishing.token(['network'], 'us'),
    await publishing.token(['network'], 'them'),
  ]
  const releases = [await releaseOf('1.1.0', 'ours'), await releaseOf('1.1.0', 'theirs')]
  const [ours = new Map(), theirs = new Map()] = releases
  await Promise.all([stage('1.1.0', ours, callers[0]), stage('1.1.0', theirs, callers[1])])
  expect((await finish('1.1.0', ours, callers[1])).body.missing).toHaveLength(3)
  const answers = await Promise.all([
    finish('1.1.0', ours, callers[0]),
    finish('1.1.0', theirs, callers[1]),
  ])
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]))
  const lost = answers.find(({ status }) => status === 409)
  for (const files of releases) {
    const zip = files.get(`${stemOf('1.1.0')}_linux_amd64.zip`) ?? Buffer.alloc(0)
    expect(lost?.body.errors.join()).toContain(digestOf(zip))
  }
  expect(await served('1.1.0')).toBe(2)
})

it('keeps nothing of a file whose sender disconnects', async () => {
  const files = await releaseOf('1.2.0')
  const [[name, bytes] = ['', Buffer.alloc(0)] as const] = files
  const asked = request(
    `${publishing.server.url}/depot/publish/v1/providers/team/cmdb/1.2.0/${name}`,
    {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${await publishing.token()}`,
        'x-depot-sha256': digestOf(bytes),
        'content-length': bytes.length,
      },
    },
  )
  asked.on('error', () => undefined)
  asked.write(bytes.subarray(0, 100))
  await vi.waitFor(async () => expect(await spoolBytes()).toBeGreaterThan(0))
  asked.destroy()
  await vi.waitFor(async () => expect(await spoolBytes()).toBe(0))
  expect((await finish('1.2.0', files)).body.missing).toContain(name)
  expect(await served('1.2.0')).toBe(0)
})

async function spoolBytes(): Promise<number> {
  const text = await (await fetch(`${publishing.controller.adminUrl}/metrics`)).text()
  return Number(/^depot_spool_bytes (\d+)$/m.exec(text)?.[1])
}

it('requires a signature by a trusted key if the Provider names trusted keys', async () => {
  const key = await readPrivateKey({
    armoredKey: await generateSigningKey({ name: 'cmdb', email: 'cmdb@example.com' }),
  })
  const trustedKeys = [key.toPublic().armor()]
  await publishing.cluster.apply('Provider', 'team', 'cmdb', {
    spec: { providerConfig: { storageConfig, trustedKeys } },
  })
  const files = await releaseOf('1.3.0')
  await vi.waitFor(async () => {
    await stage('1.3.0', files)
    const unsigned = await finish('1.3.0', files)
    expect(unsigned).toMatchObject({ status: 422, body: { refusals: [{ reason: 'Unsigned' }] } })
  }, 20_000)
  const sums = files.get(`${stemOf('1.3.0')}_SHA256SUMS`) ?? Buffer.alloc(0)
  const signature = await sign({
    message: await createMessage({ binary: sums }),
    signingKeys: key,
    detached: true,
    format: 'binary',
  })
  files.set(`${stemOf('1.3.0')}_SHA256SUMS.sig`, Buffer.from(signature as Uint8Array))
  await stage('1.3.0', files)
  expect(await finish('1.3.0', files)).toMatchObject({
    status: 201,
    body: { signer: key.getFingerprint().toUpperCase() },
  })
  await publishing.cluster.apply('Provider', 'team', 'cmdb', {
    spec: { providerConfig: { storageConfig } },
  })
})

describe('depot publish provider', () => {
  const cwd = publishing.registry.dir
  const run = (...more: readonly string[]) =>
    publishing.publish(
      cwd,
      'provider',
      'dist',
      '--to',
      'depot.test/team/cmdb',
      '--token-file',
      'token',
      ...more,
    )
  const build = async (version: string, content?: string) => {
    for (const [name, bytes] of await releaseOf(version, content))
      write(join(cwd, 'dist', name), bytes)
  }

  beforeAll(async () => {
    write(join(cwd, 'token'), await publishing.token())
    await build('2.0.0')
  })

  it('sends a release, ends when it is served, and sends nothing the second time', async () => {
    const planned = await run('--dry-run')
    expect(planned.stdout).toContain('it would be sent to depot.test')
    const { status, stdout, stderr } = await run()
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('team/cmdb 2.0.0\nplatforms: 2\n')
    expect(stdout).toContain('it is published\ndepot.test serves it\n')
    expect(stdout).toContain('source  = "depot.test/team/cmdb"')
    expect(await served('2.0.0')).toBe(2)
    const received = await publishing.receivedBytes('Provider')
    expect((await run()).stdout).toContain('it was published already')
    expect(await publishing.receivedBytes('Provider')).toBe(received)
  })

  it('refuses another build of the version, and sends nothing', async () => {
    await build('2.0.0', 'other')
    const received = await publishing.receivedBytes('Provider')
    const { status, stderr } = await run()
    expect(status).toBe(1)
    expect(stderr).toContain('2.0.0 linux amd64 is published with other files')
    expect(await publishing.receivedBytes('Provider')).toBe(received)
  })

  it('shows the progress on a terminal, and nothing of that elsewhere', async () => {
    for (const [name, bytes] of await releaseOf('2.0.1')) write(join(cwd, 'dist', name), bytes)
    const flags = ['--to', 'depot.test/team/cmdb', '--version', '2.0.1']
    const files = ['--token-file', join(cwd, 'token')]
    const command = [...depotCommand, 'publish', 'provider', join(cwd, 'dist'), ...flags, ...files]
    const { output, status } = await onTerminal({
      command,
      columns: 120,
      env: publishing.cliEnvironment(cwd),
    })
    expect(status).toBe(0)
    expect(output).toContain(`\r\x1b[K${stemOf('2.0.1')}_linux_amd64.zip: 100 % of 0.0 MB`)
    const kept = output.split('\n').map((row) => row.split('\r\x1b[K').at(-1) ?? '')
    expect(kept.join()).not.toContain('%')
  })

  it('continues after a restart of the controller', async () => {
    const files = await releaseOf('2.1.0')
    for (const [name, bytes] of files) write(join(cwd, 'dist', name), bytes)
    await stage('2.1.0', files)
    await publishing.restartController()
    expect((await finish('2.1.0', files)).body.missing).toHaveLength(4)
    expect((await run('--version', '2.1.0')).status).toBe(0)
    expect(await served('2.1.0')).toBe(2)
  })
})
