import { hash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { render } from '../hack/chart/helm.fixture.ts'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { launchProgram, type Server } from '../hack/testbed/server/server.ts'
import type { Version } from '../pkg/api/v1alpha1/v1alpha1.ts'
import { zipOf } from '../pkg/archives/archive/packed.fixture.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-scanner-'))
const path = '/apis/depot.internal/v1alpha1/namespaces/team/versions/network-1-0-0'
let plane: ControlPlane
let kubeconfig: string
let running: Server | undefined

beforeAll(async () => {
  plane = await startControlPlane()
  for (const name of ['depot-system', 'team']) {
    await plane.admin.request('POST', '/api/v1/namespaces', { metadata: { name } })
  }
  const given = /^(ServiceAccount|ClusterRole(Binding)?)$/
  const rights = render({ scanning: { enabled: true }, crds: { install: false } }).filter(
    ({ kind, metadata }) => given.test(kind) && metadata.name === 'depot-scanning',
  )
  mkdirSync(join(dir, 'rights'))
  writeFileSync(
    join(dir, 'rights/rights.yaml'),
    rights.map((right) => `---\n${JSON.stringify(right)}\n`).join(''),
  )
  await applyManifests(plane.admin, 'config/crd/bases', join(dir, 'rights'))
  const token = await plane.serviceAccountToken('depot-system', 'depot-scanning')
  kubeconfig = await plane.kubeconfig({ token })
})
afterEach(async () => {
  await running?.stop()
  running = undefined
})
afterAll(async () => {
  await plane?.stop()
  rmSync(dir, { recursive: true })
})

const scannerScript = (script: string) => {
  writeFileSync(join(dir, 'scanner'), `#!${process.execPath}\n${script}\n`)
  chmodSync(join(dir, 'scanner'), 0o755)
}

async function start(): Promise<Server> {
  const flags = {
    kubeconfig,
    'admin-listen': '127.0.0.1:0',
    archives: join(dir, 'archives'),
    'work-dir': join(dir, 'work'),
    scanner: 'exec',
    'scanner-command': join(dir, 'scanner'),
    'rescan-interval': '1m',
  }
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
  running = await launchProgram('cmd/scanner/main.ts', args, {})
  return running
}

async function store(content: string): Promise<string> {
  const bytes = await zipOf([{ path: 'main.tf', content }])
  const sha256 = hash('sha256', bytes)
  const fileName = `network-${sha256.slice(0, 12)}.zip`
  mkdirSync(join(dir, 'archives/stored/network'), { recursive: true })
  writeFileSync(join(dir, 'archives/stored/network', fileName), bytes)
  await plane.admin.apply(path, {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Version',
    metadata: { namespace: 'team', name: 'network-1-0-0' },
    spec: {
      type: 'Module',
      version: '1.0.0',
      upload: { fileName, sha256 },
      moduleConfigRef: {
        name: 'network',
        provider: 'aws',
        storageConfig: { fileSystem: { directoryPath: 'stored' } },
        scanPolicy: { block: 'CRITICAL' },
      },
    },
  })
  return sha256
}

const status = async () =>
  ((await plane.admin.request('GET', path)) as { status?: Version['status'] }).status

it('writes findings and a quarantine with the rights that the chart gives it, and nothing twice', async () => {
  scannerScript(`process.stdout.write('[{"vulnerabilityID":"CVE-1","severity":"CRITICAL"}]')`)
  const sha256 = await store('# first')
  await start()
  await expect
    .poll(async () => (await status())?.quarantinedBy, { timeout: 60_000 })
    .toMatchObject([{ by: 'ScanPolicy', message: expect.stringContaining('CVE-1') }])
  const { resourceVersion } = (
    (await plane.admin.request('GET', path)) as { metadata: { resourceVersion: string } }
  ).metadata
  expect(await status()).toMatchObject({
    sourceScan: { findings: [{ vulnerabilityID: 'CVE-1', severity: 'CRITICAL' }] },
    scan: { sha256, counts: { critical: 1 } },
  })
  await running?.stop()
  const { adminUrl } = await start()
  const seen = async () =>
    /depot_sync_duration_seconds_count\{kind="Scan"\} (\d+)/.exec(
      await (await fetch(`${adminUrl}/metrics`)).text(),
    )?.[1]
  await expect.poll(seen, { timeout: 60_000 }).toBe('1')
  const after = (await plane.admin.request('GET', path)) as {
    metadata: { resourceVersion: string }
  }
  expect(after.metadata.resourceVersion).toBe(resourceVersion)
})

it('leaves the last findings as they were if it is killed in a scan, and scans again', async () => {
  const before = await status()
  const began = join(dir, 'began')
  scannerScript(
    `const fs = require('node:fs'); fs.writeFileSync(${JSON.stringify(began)}, fs.readlinkSync('/proc/self')); setInterval(() => {}, 1000)`,
  )
  const sha256 = await store('# second')
  const { pid } = await start()
  await expect
    .poll(
      () => {
        try {
          return readFileSync(began, 'utf8') !== ''
        } catch {
          return false
        }
      },
      { timeout: 60_000 },
    )
    .toBe(true)
  const first = (await status())?.sourceScan
  const scanning = Number(readFileSync(began, 'utf8'))
  process.kill(pid, 'SIGKILL')
  await running?.stop()
  expect(first).toEqual(before?.sourceScan)
  scannerScript(`process.stdout.write('[]')`)
  await start()
  // The new process ends what the killed one left.
  await expect.poll(() => isRunning(scanning), { timeout: 60_000 }).toBe(false)
  await expect.poll(async () => (await status())?.scan?.sha256, { timeout: 60_000 }).toBe(sha256)
  await expect
    .poll(async () => (await status())?.quarantinedBy, { timeout: 60_000 })
    .toBeUndefined()
  expect((await status())?.sourceScan?.findings).toEqual([])
})

it('writes nothing for a Version that was deleted while its scan ran, and scans one that was made anew', async () => {
  const [began, go] = [join(dir, 'deleted-began'), join(dir, 'deleted-go')]
  scannerScript(
    `const fs = require('node:fs')
const text = fs.readFileSync(process.argv[3] + '/main.tf', 'utf8')
if (text.includes('deleted')) fs.writeFileSync(${JSON.stringify(began)}, '')
const waiting = setInterval(() => {
  if (text.includes('deleted') && !fs.existsSync(${JSON.stringify(go)})) return
  clearInterval(waiting)
  fs.writeSync(1, JSON.stringify([{ vulnerabilityID: text.trim() }]))
}, 20)`,
  )
  await store('# deleted')
  const { adminUrl } = await start()
  await expect.poll(() => existsSync(began), { timeout: 60_000 }).toBe(true)
  await plane.admin.request('DELETE', path)
  const sha256 = await store('# anew')
  writeFileSync(go, '')
  await expect.poll(async () => (await status())?.scan?.sha256, { timeout: 60_000 }).toBe(sha256)
  expect((await status())?.sourceScan?.findings).toMatchObject([{ vulnerabilityID: '# anew' }])
  await plane.admin.request('DELETE', path)
  const metrics = async () => (await fetch(`${adminUrl}/metrics`)).text()
  expect(await metrics()).not.toContain('depot_scans_total{result="ScanFailed"}')
  await expect.poll(() => readdirSync(join(dir, 'work/unpacked')), { timeout: 10_000 }).toEqual([])
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
