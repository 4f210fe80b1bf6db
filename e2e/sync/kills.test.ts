import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../../hack/testbed/control-plane/manifests.ts'
import { depotArguments } from '../../hack/testbed/program/command.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { startUpstreams, type Upstreams } from '../../hack/testbed/upstream/upstreams.ts'

/** `DEPOT_E2E_KILLS=50` raises the number. */
const kills = Number(process.env['DEPOT_E2E_KILLS'] ?? 6)
const resources = '/apis/depot.internal/v1alpha1/namespaces/team'
const lease = '/apis/coordination.k8s.io/v1/namespaces/team/leases/depot-controller'
const registry = new Registry()
let plane: ControlPlane
let upstreams: Upstreams
let running: Controller | undefined

interface Controller {
  readonly child: ChildProcess
  readonly log: readonly string[]
}

beforeAll(async () => {
  const users = { controller: ['system:masters'] }
  ;[plane, upstreams] = await Promise.all([startControlPlane({ users }), startUpstreams()])
  await applyManifests(plane.admin, 'config/crd/bases')
  await plane.admin.send('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
  upstreams.github.tag('acme/vpc', 'v1.0.0', { 'main.tf': 'locals {}\n' })
  await upstreams.provider('acme/dns', '2.0.0')
})
afterAll(async () => {
  running?.child.kill('SIGKILL')
  await plane?.stop()
  await upstreams?.[Symbol.asyncDispose]()
  registry.remove()
})

/** Starts `depot controller`, which works as soon as it can. */
async function start(): Promise<Controller> {
  const kubeconfig = await plane.kubeconfig({ user: 'controller' })
  const flags = [
    '--admin-listen=127.0.0.1:0',
    `--kubeconfig=${kubeconfig}`,
    '--watch-namespaces=team',
    '--namespace=team',
    `--archives=${registry.archives}`,
    `--spool-dir=${join(registry.dir, 'spool')}`,
    ...upstreams.flags,
  ]
  const child = spawn(process.execPath, [...depotArguments('controller'), ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const log: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => log.push(line))
  running = { child, log }
  return running
}

/** Kills it like a power failure of its node. Deletes its lease, so that the next one need not wait for its expiry. */
async function kill({ child }: Controller): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
  await plane.admin.send('DELETE', lease)
}

async function applyDepot(round: number): Promise<void> {
  const depot = {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Depot',
    metadata: {
      name: 'all',
      namespace: 'team',
      annotations: { 'depot.internal/sync-requested-at': String(round) },
    },
    spec: {
      global: { storageConfig: { fileSystem: { directoryPath: 'all' } } },
      moduleConfigs: [{ name: 'vpc', provider: 'aws', repoOwner: 'acme' }],
      providerConfigs: [{ name: 'dns', namespace: 'acme' }],
    },
  }
  await plane.admin.apply(`${resources}/depots/all`, depot, 'kubectl')
}

interface Resource {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly spec: { readonly type?: string; readonly version?: string }
  readonly status?: {
    readonly checksum?: string
    readonly artifact?: { readonly fileName: string }
    readonly release?: Readonly<Record<string, unknown>>
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

async function list(plural: string): Promise<readonly Resource[]> {
  const { items } = (await plane.admin.request('GET', `${resources}/${plural}`)) as {
    items: readonly Resource[]
  }
  return items
}

const isReady = ({ status }: Resource): boolean =>
  status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true

/** The readiness of every object, by name. */
async function state(): Promise<Record<string, boolean>> {
  const all = [
    ...(await list('versions')),
    ...(await list('depots')),
    ...(await list('modules')),
    ...(await list('providers')),
  ]
  return Object.fromEntries(all.map((one) => [one.metadata.name, isReady(one)]))
}

function expected(rounds: number): Record<string, boolean> {
  const vpc = Array.from({ length: rounds + 1 }, (_, round) => `vpc-1-${round}-0`)
  const names = ['all', 'vpc', 'dns', ...vpc, 'dns-2-0-0-linux-amd64', 'dns-2-0-0-darwin-arm64']
  return Object.fromEntries(names.map((name) => [name, true]))
}

const until = { timeout: 120_000, interval: 250 }

it(`a controller that is killed ${kills} times reaches the same state as one that is never killed`, async () => {
  for (let round = 0; round < kills; round += 1) {
    if (round > 0) upstreams.github.tag('acme/vpc', `v1.${round}.0`, { 'main.tf': `# ${round}\n` })
    await applyDepot(round)
    const controller = await start()
    // The time is random on purpose, because it should hit any of the steps.
    await sleep(400 + Math.random() * 2_000)
    await kill(controller)
  }
  upstreams.github.tag('acme/vpc', `v1.${kills}.0`, { 'main.tf': `# ${kills}\n` })
  await applyDepot(kills)
  await start()
  await expect.poll(state, until).toEqual(expected(kills))

  const versions = await list('versions')
  const text = JSON.stringify(versions.map(({ status }) => status))
  const stored = readdirSync(registry.archives, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    // A partial file of a kill is removed once it is a day old.
    .filter((name) => !/^\.depot-.*\.part$/.test(name))
  const archiveOf = (name: string) => name.replace('.docs.json.gz', '')
  expect(stored.filter((name) => !text.includes(archiveOf(name)))).toEqual([])
  for (const { status } of versions) expect(stored).toContain(status?.artifact?.fileName)
})

interface Audited {
  readonly stage: string
  readonly verb: string
  readonly user: { readonly username: string }
  readonly objectRef?: { readonly resource?: string; readonly name?: string }
}

/** The controller's writes since a line of the audit log, except those to its lease. */
function writesSince(line: number): string[] {
  return auditLines()
    .slice(line)
    .map((text): Audited => JSON.parse(text))
    .filter(({ stage, user }) => stage === 'ResponseComplete' && user.username === 'controller')
    .filter(({ verb }) => ['create', 'update', 'patch', 'delete'].includes(verb))
    .filter(({ objectRef }) => objectRef?.resource !== 'leases')
    .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource} ${objectRef?.name}`)
}

const auditLines = () => readFileSync(plane.auditLogFile, 'utf8').trim().split('\n')

/** The number of reconciles in the controller's metrics. */
async function worked({ log }: Controller): Promise<number> {
  const line = log.find((text) => text.includes('"msg":"listening"'))
  if (line === undefined) return 0
  const { adminUrl }: { adminUrl: string } = JSON.parse(line)
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text()
  const counts = metrics.matchAll(/^depot_sync_duration_seconds_count\{[^}]*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Runs a controller until it has checked every object. @returns its writes and its requests to GitHub */
async function restarted(objects: number): Promise<readonly string[]> {
  const line = auditLines().length
  upstreams.github.forget()
  const controller = await start()
  await expect.poll(() => worked(controller), until).toBeGreaterThanOrEqual(objects)
  const exited = once(controller.child, 'exit')
  controller.child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
  return [...writesSince(line), ...upstreams.github.asked]
}

it('a controller that starts again without work writes nothing and sends no request to GitHub', async () => {
  if (running !== undefined) await kill(running)
  const objects = Object.keys(await state()).length
  // The previous one may have been killed before it had finished.
  await expect.poll(() => restarted(objects), until).toEqual([])
})
