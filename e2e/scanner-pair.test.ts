import { hash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { launchProgram, type Server } from '../hack/testbed/server/server.ts'
import type { Version } from '../pkg/api/v1alpha1/v1alpha1.ts'
import { zipOf } from '../pkg/archives/archive/packed.fixture.ts'

/* Two scanners of one cluster. */

const dir = mkdtempSync(join(tmpdir(), 'depot-scanner-pair-'))
const resources = '/apis/depot.internal/v1alpha1/namespaces/team'
const names = Array.from({ length: 12 }, (_, index) => `module-${index}`)
const runs = join(dir, 'runs')
const running = new Set<Server>()
let plane: ControlPlane
let kubeconfig: string

beforeAll(async () => {
  plane = await startControlPlane({ users: { scanner: ['system:masters'] } })
  await plane.admin.request('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
  await applyManifests(plane.admin, 'config/crd/bases')
  kubeconfig = await plane.kubeconfig({ user: 'scanner' })
  const script = `#!${process.execPath}
const fs = require('node:fs')
const text = fs.readFileSync(process.argv[3] + '/main.tf', 'utf8').trim()
fs.appendFileSync(${JSON.stringify(runs)}, text + '\\n')
const findings = Array.from({ length: 100 }, (_, index) => ({ vulnerabilityID: text + '-' + index, severity: 'HIGH' }))
setTimeout(() => fs.writeSync(1, JSON.stringify(findings)), 400)
`
  writeFileSync(join(dir, 'scanner'), script)
  chmodSync(join(dir, 'scanner'), 0o755)
})
afterAll(async () => {
  await stopAll()
  await plane?.stop()
  rmSync(dir, { recursive: true })
})

async function stopAll(): Promise<void> {
  await Promise.all([...running].map((server) => server.stop()))
  running.clear()
}

async function start(name: string): Promise<Server> {
  const flags = {
    kubeconfig,
    'admin-listen': '127.0.0.1:0',
    archives: join(dir, 'archives'),
    'work-dir': join(dir, name),
    scanner: 'exec',
    'scanner-command': join(dir, 'scanner'),
  }
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
  const server = await launchProgram('cmd/scanner/main.ts', args, {})
  running.add(server)
  return server
}

/** Gives each Version an archive with a text of its own, and forgets earlier runs. */
async function storeAll(round: string): Promise<void> {
  writeFileSync(runs, '')
  for (const name of names) {
    const bytes = await zipOf([{ path: 'main.tf', content: `${name}-${round}` }])
    const fileName = `${name}-${round}.zip`
    mkdirSync(join(dir, 'archives/stored', name), { recursive: true })
    writeFileSync(join(dir, 'archives/stored', name, fileName), bytes)
    await plane.admin.apply(`${resources}/versions/${name}`, {
      apiVersion: 'depot.internal/v1alpha1',
      kind: 'Version',
      metadata: { namespace: 'team', name },
      spec: {
        type: 'Module',
        version: '1.0.0',
        upload: { fileName, sha256: hash('sha256', bytes) },
        moduleConfigRef: {
          name,
          provider: 'aws',
          storageConfig: { fileSystem: { directoryPath: 'stored' } },
        },
      },
    })
  }
}

async function versions(): Promise<readonly Version[]> {
  const { items } = (await plane.admin.request('GET', `${resources}/versions`)) as {
    items: Version[]
  }
  return items
}

/** The number of Versions with the scan of their archive. @throws Error if findings are missing or there twice */
async function scanned(round: string): Promise<number> {
  let count = 0
  for (const { metadata, spec, status } of await versions()) {
    if (status?.scan?.sha256 !== spec.upload?.sha256) continue
    const text = `${metadata.name}-${round}`
    const ids = status?.sourceScan?.findings.map(({ vulnerabilityID }) => vulnerabilityID)
    const whole = Array.from({ length: 100 }, (_, index) => `${text}-${index}`)
    expect({ name: metadata.name, high: status?.scan?.counts.high, ids }).toEqual({
      name: metadata.name,
      high: 100,
      ids: whole.toSorted(),
    })
    count += 1
  }
  return count
}

const allRuns = () => readFileSync(runs, 'utf8').split('\n').filter(Boolean)

it('share the work of a start, and agree about what they found', async () => {
  await storeAll('first')
  await Promise.all([start('one'), start('two')])
  await expect.poll(() => scanned('first'), { timeout: 60_000 }).toBe(names.length)
  await stopAll()
  const distinct = new Set(allRuns())
  expect(distinct.size).toBe(names.length)
  // Both may choose the same one at the same time.
  expect(allRuns().length).toBeLessThan(names.length * 1.5)
  const revisions = async () => (await versions()).map(({ metadata }) => metadata.resourceVersion)
  const before = await revisions()
  const { adminUrl } = await start('one')
  const looks = /depot_sync_duration_seconds_count\{kind="Scan"\} (\d+)/
  const seen = async () =>
    Number(looks.exec(await (await fetch(`${adminUrl}/metrics`)).text())?.[1] ?? 0)
  await expect.poll(seen, { timeout: 60_000 }).toBeGreaterThanOrEqual(names.length)
  expect(await revisions()).toEqual(before)
  await stopAll()
}, 120_000)

it('one takes over the work of the other if that is killed', async () => {
  await storeAll('second')
  const [one] = await Promise.all([start('one'), start('two')])
  await expect
    .poll(() => scanned('second'), { timeout: 60_000, interval: 50 })
    .toBeGreaterThanOrEqual(2)
  process.kill(one.pid, 'SIGKILL')
  expect(await scanned('second')).toBeLessThan(names.length)
  await expect.poll(() => scanned('second'), { timeout: 60_000 }).toBe(names.length)
}, 120_000)
