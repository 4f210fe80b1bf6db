import { createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type LoneServer, serveHttpsAlone } from '../../../hack/testbed/upstream/https-server.ts'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { localEgress } from '../egress/egress.fixture.ts'
import { eventually, storageConfig, url, versions } from '../sync/scenario-parts.fixture.ts'
import { Scene } from '../sync/scene.fixture.ts'
import { folderPlace } from '../sync/upstreams.fixture.ts'
import { startEvents } from './events.ts'

const key = 'a key of more than thirty-two characters'
const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

let receiver: LoneServer
/** A status, the target of a redirect, or `hang`. */
let answer: number | string
let received: Received[]
beforeAll(async () => {
  const take = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    received.push({ headers: incoming.headers, body: await text(incoming) })
    if (answer === 'hang') return
    const location = typeof answer === 'string' ? answer : ''
    outgoing.writeHead(typeof answer === 'number' ? answer : 307, { location })
    outgoing.end()
  }
  receiver = await serveHttpsAlone('receiver', (incoming, outgoing) => {
    void take(incoming, outgoing)
  })
})
afterAll(() => receiver.close())

let dir: string
let scene: Scene
let running: { stop(): Promise<void> } | undefined
beforeEach(async () => {
  answer = 204
  received = []
  dir = await mkdtemp(join(tmpdir(), 'depot-events-'))
  scene = await Scene.open(folderPlace(dir), 'team')
  scene.upstream.repository(url, { 'v1.0.0': 'first', 'v1.1.0': 'second' })
  await scene.run()
})
afterEach(async () => {
  await running?.stop()
  await scene.close()
  await rm(dir, { recursive: true })
})

const start = async (aheadMs = 0) => {
  running = await startEvents({
    objects: scene.objects,
    egress: localEgress([], receiver.authority.ca),
    url: `${receiver.origin}/events`,
    key,
    apiGroup: 'depot.internal',
    log: createLogger('silent'),
    metrics: scene.metrics,
    clock: () => Date.now() + aheadMs,
  })
}
const stop = async () => {
  await running?.stop()
  running = undefined
}
const write = (...lifecycle: object[]) =>
  scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0', '1.1.0'), lifecycle })
const bodies = () => received.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
const told = () =>
  bodies()
    .map(({ type, subject }) => `${String(type).replace('depot.version.', '')} ${String(subject)}`)
    .toSorted()
const served = ['served team/vpc-1-0-0', 'served team/vpc-1-1-0']
const metric = async (result: string) => {
  const lines = (await scene.metrics.metrics()).split('\n')
  const found = lines.filter(
    (line) => line.startsWith('depot_events_total') && line.includes(`"${result}"`),
  )
  return found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

it('sends signed CloudEvents for versions that are served and withdrawn', async () => {
  await start()
  await write()
  await eventually(() => expect(told()).toEqual(served))
  const [first] = bodies()
  expect(first).toMatchObject({
    specversion: '1.0',
    source: 'urn:depot:depot.internal',
    datacontenttype: 'application/json',
    data: { namespace: 'team', kind: 'Module', name: 'vpc', system: 'aws' },
  })
  const [{ headers, body } = { headers: {}, body: '' }] = received
  expect(headers['content-type']).toBe('application/cloudevents+json; charset=utf-8')
  const header = (name: string) => String(headers[name])
  const signed = `${header('webhook-id')}.${header('webhook-timestamp')}.${body}`
  const mac = createHmac('sha256', key).update(signed).digest('base64')
  expect(headers['webhook-signature']).toBe(`v1,${mac}`)
  expect(headers['webhook-id']).toBe(first?.['id'])
  await write({ versions: '1.0.0', state: 'Yanked', message: 'broken', replacedBy: '1.1.0' })
  await eventually(() => expect(told()).toEqual(['deprecated team/vpc-1-0-0', ...served]))
  expect(bodies().at(-1)?.['data']).toMatchObject({
    state: 'Yanked',
    message: 'broken',
    replacedBy: '1.1.0',
  })
})

it('sends one event when the quarantine of a version ends, even after two days', async () => {
  const days = 2 * 24 * 60 * 60_000
  await write({ versions: '1.0.0', state: 'Quarantined' })
  const state = () => scene.status('Version', 'vpc-1-0-0').lifecycle?.state
  await eventually(() => expect(state()).toBe('Quarantined'))
  await scene.idle()
  await start(60_000)
  await stop()
  expect(told()).toEqual([])
  scene.aheadMs = days
  await start(days)
  await write()
  await eventually(() => expect(told()).toEqual(['served team/vpc-1-0-0']))
  await eventually(async () => expect(await metric('delivered')).toBe(1))
  await stop()
  await start(days)
  await stop()
  expect(told()).toEqual(['served team/vpc-1-0-0'])
})

it('continues after another process: sends the events that are missing, and none twice', async () => {
  await start()
  await write()
  await eventually(async () => expect(await metric('delivered')).toBe(2))
  await stop()
  await write({ versions: '1.0.0', state: 'Deprecated' })
  await eventually(() =>
    expect(scene.status('Version', 'vpc-1-0-0').lifecycle?.state).toBe('Deprecated'),
  )
  await start()
  await eventually(() => expect(told()).toEqual(['deprecated team/vpc-1-0-0', ...served]))
  await eventually(async () => expect(await metric('delivered')).toBe(3))
})

it('sends the same event with the same id until the receiver accepts it', async () => {
  answer = 500
  await start()
  await write()
  await eventually(() => expect(received.length).toBeGreaterThan(2))
  await stop()
  answer = 200
  await start()
  await eventually(async () => expect(await metric('delivered')).toBe(2))
  expect(new Set(bodies().map(({ id }) => id)).size).toBe(2)
})

it.each([
  ['redirects to an address of metadata', 'https://169.254.169.254/latest'],
  ['redirects to another path', '/elsewhere'],
])('does not follow a receiver that %s', async (_, location) => {
  answer = location
  await start()
  await write()
  await eventually(async () => expect(await metric('failed')).toBeGreaterThan(1))
  expect(await metric('delivered')).toBe(0)
  expect(new Set(receiver.seen.map((request) => request.url))).toEqual(new Set(['/events']))
})

it('stops at once while a receiver hangs', async () => {
  answer = 'hang'
  await start()
  await write()
  await eventually(() => expect(received.length).toBeGreaterThan(0))
  await stop()
  expect(await metric('delivered')).toBe(0)
})

it('drops events that nobody accepted within a day, and sends none about earlier times', async () => {
  answer = 500
  await start()
  await write()
  await eventually(async () => expect(await metric('failed')).toBeGreaterThan(0))
  await stop()
  answer = 200
  await start(25 * 60 * 60_000)
  await write({ versions: '1.0.0', state: 'Yanked' })
  await eventually(() =>
    expect(scene.status('Version', 'vpc-1-0-0').lifecycle?.state).toBe('Yanked'),
  )
  await stop()
  expect(await metric('delivered')).toBe(0)
})

it('sends an event when a policy has held a version back for a whole day', async () => {
  await start()
  await write()
  await eventually(() => expect(told()).toEqual(served))
  await stop()
  const since = new Date().toISOString()
  const listing = { address: 'x', heldBack: [{ version: '1.2.0', since, why: 'Denied' }] }
  await scene.idle()
  await eventually(async () => {
    const module = scene.object('Module', 'vpc')
    await scene.objects.writeStatus(module, { ...(module.status as object), listing })
  })
  const hour = 60 * 60_000
  await start(23 * hour)
  await stop()
  expect(told()).toEqual(served)
  await start(24 * hour + 1000)
  await eventually(() => expect(told()).toEqual(['held team/vpc', ...served]))
})
