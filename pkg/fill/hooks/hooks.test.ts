import { createHmac } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { answerErrors } from '../../base/serving/serving.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { eventually, storageConfig, url } from '../sync/scenario-parts.fixture.ts'
import { Scene } from '../sync/scene.fixture.ts'
import { folderPlace } from '../sync/upstreams.fixture.ts'
import { hookRoutes } from './hooks.ts'

const apiGroup = 'depot.internal'
const annotation = `${apiGroup}/poll-requested-at`
const secret = 'a secret of thirty-two characters'
const signed = (body: string, key = secret) => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
})

let dir: string
let scene: Scene
let app: ReturnType<typeof hookRoutes>
let metrics: ReturnType<typeof createMetrics>
let nowMs: number
let lines: string[]
let annotated: (string | undefined)[]
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'depot-hooks-'))
  const secretNamed = (name: string, value: string) =>
    writeFile(
      join(dir, `${name}.yaml`),
      stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: 'team' },
        stringData: { secret: value },
      }),
    )
  await secretNamed('hook', secret)
  await secretNamed('empty', '')
  await secretNamed('of-file', `${secret}\n`)
  scene = await Scene.open(folderPlace(dir), 'team')
  const moduleConfigs = [
    { name: 'vpc', provider: 'aws', source: { type: 'git', url }, storageConfig },
  ]
  const write = (name: string, webhook?: object) =>
    scene.write('Depot', name, { moduleConfigs, webhook })
  await write('main', { secretRef: { name: 'hook' } })
  await scene.write('Depot', 'empty', { webhook: { secretRef: { name: 'empty' } } })
  await scene.write('Depot', 'absent', { webhook: { secretRef: { name: 'absent' } } })
  await scene.write('Depot', 'closed', {})
  const webhook = { secretRef: { name: 'of-file' } }
  await scene.write('Depot', 'suspended', { webhook, suspend: true })
  scene.upstream.repository(url, { 'v1.0.0': 'first' })
  await scene.run()
  nowMs = Date.now()
  lines = []
  annotated = []
  const log = createLogger('info', { write: (line: string) => void lines.push(line) })
  metrics = createMetrics({ version: 'test' })
  app = hookRoutes({
    objects: scene.objects,
    annotate: (ref, annotations) => {
      annotated.push(annotations[annotation])
      return scene.objects.patch(ref, { metadata: { annotations } })
    },
    apiGroup,
    log,
    metrics,
    clock: () => nowMs,
  })
  answerErrors(app, log, '')
})
afterEach(async () => {
  await scene.close()
  await rm(dir, { recursive: true })
})

const post = (path: string, headers: Record<string, string> = {}, body = '{}') =>
  app.request(`/depot/hooks/${path}`, { method: 'POST', headers, body })
const asked = () => scene.object('Depot', 'main').metadata.annotations[annotation]

it.each([
  ['github', signed('{}')],
  ['generic', signed('{}')],
  ['gitlab', { 'x-gitlab-token': secret }],
])('a webhook of %s makes a Depot without an interval poll at once', async (provider, headers) => {
  scene.upstream.repository(url, { 'v1.0.0': 'first', 'v1.1.0': 'second' })
  expect((await post(`${provider}/team/main`, headers)).status).toBe(202)
  await eventually(() => expect(scene.names('Version')).toEqual(['vpc-1-0-0', 'vpc-1-1-0']))
  expect(scene.status('Depot', 'main').lastHandledPoll).toBe(asked())
})

it('does not synchronise again what is stored', async () => {
  const before = scene.status('Version', 'vpc-1-0-0')
  scene.upstream.repository(url, { 'v1.0.0': 'moved' })
  await post('github/team/main', signed('{}'))
  await eventually(() => expect(scene.status('Depot', 'main').lastHandledPoll).toBe(asked()))
  await scene.idle()
  expect(scene.status('Version', 'vpc-1-0-0').artifact).toEqual(before.artifact)
})

it('asks for at most one poll in ten seconds, and for one after the last request', async () => {
  const times: (string | undefined)[] = []
  for (const afterMs of [0, 1_000, 1_000, 9_000, 1_000]) {
    nowMs += afterMs
    expect((await post('github/team/main', signed('{}'))).status).toBe(202)
    times.push(asked())
  }
  const at = (ms: number) => new Date(nowMs - 12_000 + ms).toISOString()
  expect(times).toEqual([at(0), at(10_000), at(10_000), at(20_000), at(20_000)])
})

it('asks for two polls, the second one later, however many requests come at once', async () => {
  const requests = Array.from({ length: 50 }, async () => post('github/team/main', signed('{}')))
  for (const { status } of await Promise.all(requests)) expect(status).toBe(202)
  const at = (ms: number) => new Date(nowMs + ms).toISOString()
  expect(annotated).toEqual([at(0), at(10_000)])
})

it('polls when the second of two requests is due, even in a process that starts later', async () => {
  await post('github/team/main', signed('{}'))
  await eventually(() => expect(scene.status('Depot', 'main').lastHandledPoll).toBe(asked()))
  await post('github/team/main', signed('{}'))
  await scene.stop()
  scene.upstream.repository(url, { 'v1.0.0': 'first', 'v1.1.0': 'second' })
  scene.aheadMs = 10_000
  await scene.run()
  await eventually(() => expect(scene.names('Version')).toContain('vpc-1-1-0'))
})

it('polls at once although somebody wrote a time that is far ahead', async () => {
  const ref = { kind: 'Depot', namespace: 'team', name: 'main' } as const
  scene.upstream.repository(url, { 'v1.0.0': 'first', 'v1.1.0': 'second' })
  await scene.objects.patch(ref, {
    metadata: { annotations: { [annotation]: '2999-01-01T00:00:00Z' } },
  })
  await eventually(() => expect(scene.names('Version')).toContain('vpc-1-1-0'))
  await post('github/team/main', signed('{}'))
  expect(asked()).toBe(new Date(nowMs).toISOString())
})

it('answers a wrong signature and an unknown Depot alike, and counts both', async () => {
  const refused = async (...request: Parameters<typeof post>) => {
    const startMs = performance.now()
    const answer = await post(...request)
    const tookMs = performance.now() - startMs
    return {
      status: answer.status,
      body: (await answer.text()).replaceAll(/team\/\w+/g, ''),
      waited: tookMs > 240,
    }
  }
  const one = await refused('github/team/main', signed('{}', 'wrong'))
  expect(one).toMatchObject({ status: 401, waited: true })
  const others: Parameters<typeof post>[] = [
    ['github/team/main'],
    ['github/team/main', { 'x-hub-signature-256': 'sha256=' }],
    ['github/team/main', signed('other body')],
    ['github/team/main', { 'x-gitlab-token': secret }],
    ['gitlab/team/main', signed('{}')],
    ['gitlab/team/main', { 'x-gitlab-token': `${secret}x` }],
    ['github/team/unknown', signed('{}')],
    ['github/team/closed', signed('{}')],
    ['github/team/closed', signed('{}', '')],
    ['gitlab/team/closed', { 'x-gitlab-token': '' }],
    ['github/team/empty', signed('{}', '')],
    ['gitlab/team/empty', { 'x-gitlab-token': '' }],
    ['github/team/absent', signed('{}', '')],
  ]
  for (const request of others) expect(await refused(...request)).toEqual(one)
  expect(asked()).toBeUndefined()
  const text = await metrics.metrics()
  expect(text).toContain('depot_webhook_requests_total{provider="github",result="refused"} 10')
})

it('accepts a secret with a line end, and says that a Depot is suspended', async () => {
  const answer = await post('github/team/suspended', signed('{}'))
  expect([answer.status, await answer.json()]).toEqual([200, { result: 'suspended' }])
  expect(scene.object('Depot', 'suspended').metadata.annotations[annotation]).toBeUndefined()
})

it.each([
  ['main', 'the signature is wrong'],
  ['closed', 'spec.webhook names no Secret that has the key "secret"'],
  ['empty', 'spec.webhook names no Secret that has the key "secret"'],
  ['unknown', 'there is no such Depot'],
])('logs why a webhook of the Depot %s is refused', async (name, cause) => {
  await post(`github/team/${name}`, signed('{}', 'wrong'))
  expect(lines.join('')).toContain(`"cause":${JSON.stringify(cause)}`)
})

it('answers a ping of GitHub, and refuses other senders and large bodies', async () => {
  const ping = { 'x-github-event': 'ping', ...signed('{}') }
  expect((await post('github/team/main', ping)).status).toBe(200)
  expect((await post('bitbucket/team/main', signed('{}'))).status).toBe(404)
  const large = 'x'.repeat(2 ** 20 + 1)
  expect((await post('github/team/main', signed(large), large)).status).toBe(413)
  expect(
    (await post('github/team/main', signed('x'.repeat(2 ** 20)), 'x'.repeat(2 ** 20))).status,
  ).toBe(202)
})
