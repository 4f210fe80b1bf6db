import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { depot, depotCommand, put as write } from '../cmd/import/import.fixture.ts'
import { onTerminal } from '../hack/testbed/cli/terminal.ts'
import type { Server } from '../hack/testbed/server/server.ts'
import { type LoneServer, serveHttpsAlone } from '../hack/testbed/upstream/https-server.ts'
import { tarGzOf } from '../pkg/archives/archive/packed.fixture.ts'
import { PublishingRegistry } from './publishing.fixture.ts'
import type { ControlledCluster } from './sync/controlled-cluster.fixture.ts'

/* Publishing over HTTP: a server forwards to a controller with the rights of the chart, which asks an issuer or the cluster. */

const publishing = new PublishingRegistry()
const { registry } = publishing
let cluster: ControlledCluster
let controller: Server
let server: Server
let receiver: LoneServer
const events: unknown[] = []

beforeAll(async () => {
  receiver = await serveHttpsAlone('events', async (incoming, outgoing) => {
    events.push(await json(incoming))
    outgoing.end()
  })
  vi.stubEnv('DEPOT_EVENTS_WEBHOOK_KEY', 'a key of more than twenty-four characters')
  await publishing.start(async ({ upstreams }) => {
    appendFileSync(upstreams.caFile, receiver.authority.ca)
    const flags = ['--publish-template', 'template']
    return [...flags, '--events-webhook', `${receiver.origin}/events`]
  })
  vi.unstubAllEnvs()
  ;({ cluster, controller, server } = publishing)
  const { admin } = cluster.plane
  for (const name of ['vpc', 'dns']) {
    const storageConfig = { fileSystem: { directoryPath: 'team' } }
    await cluster.apply('Module', 'team', name, {
      spec: { moduleConfig: { name, provider: 'aws', storageConfig, versionPolicy: 'Enforce' } },
    })
  }
  await admin.request('POST', '/api/v1/namespaces/team/serviceaccounts', {
    metadata: { name: 'ci' },
  })
  const role = '/apis/rbac.authorization.k8s.io/v1/namespaces/team'
  const apiGroups = ['depot.internal']
  const rules = [
    { apiGroups, resources: ['versions'], verbs: ['create', 'list'] },
    { apiGroups, resources: ['modules'], verbs: ['get'] },
  ]
  await admin.request('POST', `${role}/roles`, { metadata: { name: 'ci' }, rules })
  await admin.request('POST', `${role}/rolebindings`, {
    metadata: { name: 'ci' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'ci' },
    subjects: [{ kind: 'ServiceAccount', name: 'ci', namespace: 'team' }],
  })
})
afterAll(async () => {
  await publishing.stop()
  await receiver?.close()
})

const archiveOf = (text: string, more: Readonly<Record<string, string>> = {}) =>
  tarGzOf(
    Object.entries({ 'main.tf': `output "a" {\n  value = "${text}"\n}\n`, ...more }).map(
      ([path, content]) => ({ path, content }),
    ),
  )
const token = (groups?: readonly string[]) => publishing.token(groups)
const put = (path: string, ...more: Tail<Parameters<typeof publishing.put>>) =>
  publishing.put(`modules/${path}`, ...more)
type Tail<T extends readonly unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never

it('publishes an archive, which the server that answered serves', async () => {
  const archive = await archiveOf('1')
  expect(await put('team/vpc/aws/1.0.0', archive)).toMatchObject({
    status: 201,
    body: { outcome: 'published', version: '1.0.0' },
  })
  const published = () =>
    controller.log.filter((line) => line.includes('"msg":"archive published"'))
  await vi.waitFor(() => expect(published()).toHaveLength(1))
  expect(JSON.parse(published()[0] ?? '')).toMatchObject({
    namespace: 'team',
    name: 'vpc',
    version: '1.0.0',
    sha256: expect.any(String),
    by: expect.any(String),
    issuer: expect.stringMatching(/^http:/),
  })
  const versions = await publishing.get('/depot/modules/v1/team/vpc/aws/versions')
  expect(await versions.text()).toContain('"1.0.0"')
  expect(await put('team/vpc/aws/1.0.0', archive)).toMatchObject({ status: 200 })
})

it('tells the receiver of events that a published version is served', async () => {
  await put('team/vpc/aws/1.0.0', await archiveOf('1'))
  const data = { namespace: 'team', name: 'vpc', system: 'aws', version: '1.0.0' }
  await vi.waitFor(() => {
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'depot.version.served',
        data: expect.objectContaining(data) as unknown,
      }),
    )
  }, 30_000)
})

it('publishes and holds a version whose module requires scans, and says so', async () => {
  const storageConfig = { fileSystem: { directoryPath: 'team' } }
  const scanPolicy = { block: 'CRITICAL' }
  await cluster.apply('Module', 'team', 'vpc-held', {
    spec: { moduleConfig: { name: 'vpc-held', provider: 'aws', storageConfig, scanPolicy } },
  })
  await vi.waitFor(
    async () => {
      const answer = await put('team/vpc-held/aws/1.0.0', await archiveOf('held'))
      const held = { status: 202, body: { unserved: { reason: 'Quarantined' } } }
      expect(answer).toMatchObject(held)
    },
    { timeout: 20_000 },
  )
  const download = await publishing.get('/depot/modules/v1/team/vpc-held/aws/1.0.0/download')
  expect(download.status).toBe(410)
})

it('lets one of two concurrent publishers of a version win, and tells the other both digests', async () => {
  const archives = [await archiveOf('one'), await archiveOf('other')]
  const answers = await Promise.all(archives.map((archive) => put('team/vpc/aws/1.1.0', archive)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]))
  const [won, lost] = answers.toSorted((a, b) => a.status - b.status)
  const [message] = lost?.body.errors ?? []
  expect(message).toContain(won?.body.sha256)
  expect(new Set(message?.match(/[0-9a-f]{64}/g)).size).toBe(2)
})

it.each([
  ['a stranger', 401, async () => 'stranger', 'vpc'],
  ['a reader', 403, () => token(['readers']), 'vpc'],
  ['somebody of another module', 403, () => token(), 'dns'],
])('refuses %s with %i', async (_, status, as, name) => {
  const answer = await put(`team/${name}/aws/2.0.0`, await archiveOf('2'), { as: await as() })
  expect(answer.status).toBe(status)
})

it('asks the cluster about its own service accounts', async () => {
  const { plane } = cluster
  const as = await plane.serviceAccountToken('team', 'ci')
  const archive = await archiveOf('dns')
  expect(await put('team/dns/aws/1.0.0', archive, { as })).toMatchObject({ status: 201 })
  const other = await plane.serviceAccountToken('depot-system', 'depot-controller')
  const listed = await put('other/dns/aws/1.0.0', archive, { as: other })
  expect(listed).toMatchObject({ status: 404, body: { refusals: [{ reason: 'NoParent' }] } })
})

it('creates a missing Module from the template, for callers who may create it', async () => {
  const { plane } = cluster
  const storageConfig = { fileSystem: { directoryPath: 'team' } }
  const body = await archiveOf('new')
  const absent = await put('team/vpc-new/aws/1.0.0', body)
  expect(absent).toMatchObject({ status: 404, body: { refusals: [{ reason: 'NoParent' }] } })
  await cluster.apply('Module', 'team', 'template', {
    spec: { moduleConfig: { provider: 'none', storageConfig, fileFormat: 'zip' } },
  })
  await vi.waitFor(async () => {
    expect(await put('team/vpc-new/aws/1.0.0', body)).toMatchObject({ status: 201 })
  }, 20_000)
  const archive = await publishing.get('/depot/modules/v1/team/vpc-new/aws/1.0.0/download')
  expect(archive.headers.get('x-terraform-get')).toContain('.zip')
  // It may only create versions.
  const as = await plane.serviceAccountToken('team', 'ci')
  const refused = await put('team/other/aws/1.0.0', body, { as })
  expect(refused.status).toBe(403)
  expect(refused.body.errors.join()).toContain('create versions and modules')
})

const secret = { 'prod.tfstate': '{}', 'id.pem': 'x' }
it.each([
  [415, 'application/zip', { 'content-type': 'application/json' }],
  [422, 'X-Depot-Sha256 says', { 'x-depot-sha256': 'a'.repeat(64) }],
  [400, 'X-Depot-Sha256 must be', { 'x-depot-sha256': 'none' }],
])('answers %i with the words %j', async (status, words, headers) => {
  const answer = await put('team/vpc/aws/2.0.0', await archiveOf('2'), { headers })
  expect(answer.status).toBe(status)
  expect(answer.body.errors[0]).toContain(words)
})

it('answers 413 before it reads an archive that is too large', async () => {
  const asked = request(`${server.url}/depot/publish/v1/modules/team/vpc/aws/2.0.0`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${await token()}`,
      'x-depot-sha256': 'a'.repeat(64),
      'content-length': 2 ** 40,
    },
  })
  asked.write('archive')
  const [{ statusCode }] = (await once(asked, 'response')) as [{ statusCode: number }]
  expect(statusCode).toBe(413)
  asked.on('error', () => undefined).destroy()
})

it.each([
  ['not-a-version', {}, 'NotSemver'],
  ['1.0.5', {}, undefined],
  ['1.0.4', {}, 'OlderVersion'],
  ['2.0.0', secret, 'SecretFile'],
])('refuses version %s with files %j by 422: %s', async (version, more, reason) => {
  const answer = await put(`team/vpc/aws/${version}`, await archiveOf('3', more))
  const expected = { status: 422, body: { refusals: [{ reason }] } }
  expect(answer).toMatchObject(reason === undefined ? { status: 201 } : expected)
})

it('accepts files that look like secrets if they are named', async () => {
  const archive = await archiveOf('3', secret)
  const path = 'team/vpc/aws/2.0.0?allow-file=prod.tfstate,id.pem'
  expect(await put(path, archive)).toMatchObject({ status: 201 })
})

it('refuses to accept a file that the archive lacks', async () => {
  const archive = await archiveOf('3', secret)
  const answer = await put('team/vpc/aws/2.0.1?allow-file=prod.tfstate,id.pem,ids.pem', archive)
  const message = expect.stringMatching(/^--allow-file: ids\.pem .*: did you mean id\.pem\?$/)
  const refusals = [{ reason: 'NoSecretFile', message }]
  expect(answer).toMatchObject({ status: 422, body: { refusals } })
})

it('refuses a breaking version if the module enforces semantic versioning', async () => {
  const archive = await tarGzOf([{ path: 'main.tf', content: '' }])
  const answer = await put('team/vpc/aws/2.1.0', archive)
  expect(answer).toMatchObject({ status: 422, body: { refusals: [{ reason: 'BreakingChange' }] } })
})

describe('depot publish', () => {
  const cwd = registry.dir
  const to = 'depot.test/team/vpc/aws'
  const run = (version: string, ...more: readonly string[]) =>
    publishing.publish(cwd, 'module', 'source', '--to', to, '--version', version, ...more)

  beforeAll(async () => {
    write(join(cwd, 'source/main.tf'), 'variable "cidr" {\n  type = string\n}\n')
    write(join(cwd, 'token'), `${await token()}\n`)
    write(join(cwd, 'reader'), await token(['readers']))
  })

  it('sends a folder, ends when the version is served, and prints how to use it', async () => {
    const { status, stdout, stderr } = await run('v3.0.0', '--token-file', 'token')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('team/vpc/aws 3.0.0\nfiles: 1\n')
    expect(stdout).toContain('compared: with 2.0.0, breaking\n')
    expect(stdout).toContain('depot.test serves it\n')
    expect(stdout).toContain(`source  = "${to}"`)
    expect(stdout).toContain('cidr = string')
    const again = await run('3.0.0', '--token-file', 'token')
    expect(again).toMatchObject({ status: 0 })
    expect(again.stdout).toContain('it was published already')
  })

  it('says before it sends what breaks callers, and returns at once if that is requested', async () => {
    write(join(cwd, 'source/main.tf'), 'variable "range" {\n  type = string\n}\n')
    const planned = await run('3.1.0', '--token-file', 'token', '--dry-run', '-o', 'json')
    expect(planned.stderr).toContain('3.1.0 breaks callers of 3.0.0')
    expect(JSON.parse(planned.stdout)).toMatchObject({
      outcome: 'planned',
      host: 'depot.test',
      comparison: { from: '3.0.0', verdict: 'breaking' },
    })
    const refused = await run('3.1.0', '--token-file', 'token')
    expect(refused).toMatchObject({ status: 1 })
    expect(refused.stderr).toContain('Publish it as 4.0.0')
    const served = await run('4.0.0', '--token-file', 'token', '--no-wait')
    expect(served).toMatchObject({ status: 0 })
    expect(served.stdout).toMatch(/^it is published$/m)
  })

  it('tells publishers who uses the previous version, like depot compare', async () => {
    const as = await cluster.plane.serviceAccountToken('team', 'ci')
    const headers = { authorization: `Bearer ${as}` }
    const compare = async (tokenFile: string) => {
      const own = readFileSync(join(cwd, tokenFile), 'utf8').trim()
      const env = { ...publishing.cliEnvironment(cwd), TF_TOKEN_depot_test: own }
      return depot(cwd, ['compare', `${to}@4.0.0`, 'source'], env)
    }
    await vi.waitFor(async () => {
      const download = await fetch(`${server.url}/depot/modules/v1/team/vpc/aws/4.0.0/download`, {
        headers,
      })
      const url = new URL(download.headers.get('x-terraform-get') ?? '', download.url)
      expect((await fetch(url, { headers })).status).toBe(200)
      const planned = await run('4.1.0', '--token-file', 'token', '--dry-run')
      expect(planned.stdout).toContain(
        'used by: 1 of 1 consumer uses 4.0.0: serviceaccount:team/ci.\n',
      )
    }, 30_000)
    const { stdout } = await run('4.1.0', '--token-file', 'token', '--dry-run', '-o', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      usedBy: { version: '4.0.0', consumers: [{ consumer: 'serviceaccount:team/ci' }], total: 1 },
    })
    const told = await compare('token')
    expect(told).toMatchObject({ status: 0, stderr: '' })
    expect(told.stdout).toMatch(/^1 of 1 consumer uses 4\.0\.0: serviceaccount:team\/ci\.$/m)
    const untold = await compare('reader')
    expect(untold.stdout).not.toContain('consumer')
  })

  it('exits with 1 for a refusal, 2 for a missing token and 3 without a server', async () => {
    const refused = await run('4.0.1', '--token-file', 'reader')
    expect(refused).toMatchObject({ status: 1 })
    expect(refused.stderr).toContain('publishNamespaces')
    const missing = await run('4.0.1')
    expect(missing).toMatchObject({ status: 2 })
    expect(missing.stderr).toContain('there is no token')
    const nowhere = ['--to', '127.0.0.1:1/team/vpc/aws', '--version', '1.0.0']
    const absent = await publishing.publish(
      cwd,
      'module',
      'source',
      ...nowhere,
      '--token-file',
      'token',
    )
    expect(absent).toMatchObject({ status: 3 })
    expect(absent.stderr).toContain(
      'https://127.0.0.1:1/.well-known/terraform.json cannot be reached',
    )
  })

  describe('with a large archive', () => {
    const flags = (version: string) => ['--to', to, '--version', version]
    beforeAll(() => {
      write(join(cwd, 'large/main.tf'), '')
      write(join(cwd, 'large/random.bin'), randomBytes(40_000_000))
    })

    it('ends as soon as the registry refuses, before all of it is sent', async () => {
      const received = await publishing.receivedBytes('Module')
      const args = [...flags('1.0.3'), '--token-file', 'token']
      const { status, stderr } = await publishing.publish(cwd, 'module', 'large', ...args)
      expect(stderr).toContain('1.0.3 is before 1.0.5')
      expect(status).toBe(1)
      expect(await publishing.receivedBytes('Module')).toBe(received)
    })

    it('removes its temporary files when it is stopped', async () => {
      const tmp = join(cwd, 'tmp-of-stopped')
      mkdirSync(tmp)
      const files = ['--token-file', join(cwd, 'token')]
      const { output, status } = await onTerminal({
        command: [
          ...depotCommand,
          'publish',
          'module',
          join(cwd, 'large'),
          ...flags('5.0.0'),
          ...files,
        ],
        columns: 120,
        env: { ...publishing.cliEnvironment(cwd), TMPDIR: tmp },
        keys: { at: '% of', bytes: '\x03' },
      })
      expect(status).toBe(130)
      expect(output).toContain('depot: stopped; run the same command again to go on')
      expect(readdirSync(tmp)).toEqual([])
    })
  })

  it('sends no secret, and nothing in a dry run', async () => {
    write(join(cwd, 'source/.env'), 'KEY=1')
    const refused = await run('4.0.1', '--token-file', 'token')
    expect(refused.stderr).toContain('--allow-file=.env')
    expect(refused.status).toBe(1)
    const allowed = await run('4.0.1', '--token-file', 'token', '--dry-run', '--allow-file', '.env')
    expect(allowed).toMatchObject({ status: 0 })
    expect(allowed.stdout).toContain('it would be sent to')
    write(join(cwd, 'source/prod.tfstate'), '{}')
    const named = ['--allow-file', './.env,prod.tfstate']
    expect(await run('4.0.1', '--token-file', 'token', ...named)).toMatchObject({ status: 0 })
  })
})

it('forwards a webhook, after which the controller polls a Depot, and its refusal', async () => {
  const { admin } = cluster.plane
  const shared = 'a secret of more than thirty-two characters'
  await admin.request('POST', '/api/v1/namespaces/team/secrets', {
    metadata: { name: 'hook' },
    stringData: { secret: shared },
  })
  await cluster.apply('Depot', 'team', 'main', {
    spec: { webhook: { secretRef: { name: 'hook' } } },
  })
  const hook = async (key: string, body: string) => {
    const signature = createHmac('sha256', key).update(body).digest('hex')
    const answer = await fetch(`${server.url}/depot/hooks/github/team/main`, {
      method: 'POST',
      body,
      headers: { 'x-hub-signature-256': `sha256=${signature}` },
    })
    return answer.status
  }
  await vi.waitFor(async () => expect(await hook(shared, '{}')).toBe(202), 30_000)
  expect(await hook('wrong', '{}')).toBe(401)
  expect(await hook(shared, 'x'.repeat(2 ** 20 + 1))).toBe(413)
  const strangers = Array.from({ length: 40 }, () => {
    const sent = request(`${server.url}/depot/hooks/github/team/main`, {
      method: 'POST',
      headers: { 'content-length': 2 ** 20 },
    })
    sent.on('error', () => undefined)
    return new Promise<typeof sent>((resolve) => {
      sent.write(Buffer.alloc(2 ** 20 - 1), () => resolve(sent))
    })
  })
  const stalled = await Promise.all(strangers)
  expect(await hook(shared, '{"as": "before"}')).toBe(202)
  for (const sent of stalled) sent.destroy()
  const path = '/apis/depot.internal/v1alpha1/namespaces/team/depots/main'
  await vi.waitFor(async () => {
    const { metadata, status } = (await admin.request('GET', path)) as PolledDepot
    expect(status?.lastHandledPoll).toBe(metadata.annotations['depot.internal/poll-requested-at'])
  }, 30_000)
})

interface PolledDepot {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> }
  readonly status?: { readonly lastHandledPoll?: string }
}
