import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { render } from '../hack/chart/helm.fixture.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { looksOf, ScannedCluster } from './scanned-cluster.fixture.ts'

const name = 'network-1-0-0'
let cluster: ScannedCluster

beforeAll(async () => {
  cluster = await ScannedCluster.open()
  const { admin } = cluster.plane
  await admin.request('POST', '/api/v1/namespaces', { metadata: { name: 'depot-system' } })
  const given = /^(ServiceAccount|ClusterRole(Binding)?)$/
  const rights = render({ scanning: { enabled: true }, crds: { install: false } }).filter(
    ({ kind, metadata }) => given.test(kind) && metadata.name === 'depot-scanning',
  )
  mkdirSync(cluster.path('rights'))
  writeFileSync(
    join(cluster.path('rights'), 'rights.yaml'),
    rights.map((right) => `---\n${JSON.stringify(right)}\n`).join(''),
  )
  await applyManifests(admin, cluster.path('rights'))
  await cluster.as('depot-system', 'depot-scanning')
})
afterEach(() => cluster.stop())
afterAll(() => cluster.close())

const start = () => cluster.start('work', { 'rescan-interval': '1m' })
const store = (content: string) => cluster.store(name, content, { block: 'CRITICAL' })
const status = () => cluster.status(name)

it('writes findings and a quarantine with the rights of the chart, and nothing twice', async () => {
  cluster.script(`fs.writeSync(1, '[{"vulnerabilityID":"CVE-1","severity":"CRITICAL"}]')`)
  const sha256 = await store('# first')
  await start()
  await expect
    .poll(async () => (await status()).quarantinedBy, { timeout: 60_000 })
    .toMatchObject([{ by: 'ScanPolicy', message: expect.stringContaining('CVE-1') }])
  const { resourceVersion } = (await cluster.version(name)).metadata
  expect(await status()).toMatchObject({
    sourceScan: { findings: [{ vulnerabilityID: 'CVE-1', severity: 'CRITICAL' }] },
    scan: { sha256, counts: { critical: 1 } },
  })
  await cluster.stop()
  const again = await start()
  await expect.poll(() => looksOf(again), { timeout: 60_000 }).toBe(1)
  expect((await cluster.version(name)).metadata.resourceVersion).toBe(resourceVersion)
})

it('keeps the last findings if it is killed during a scan, and scans again', async () => {
  const before = await status()
  const began = cluster.path('began')
  cluster.script(
    `fs.writeFileSync(${JSON.stringify(began)}, fs.readlinkSync('/proc/self')); setInterval(() => {}, 1000)`,
  )
  const sha256 = await store('# second')
  const { pid } = await start()
  const scanning = () => (existsSync(began) ? Number(readFileSync(began, 'utf8')) : 0)
  await expect.poll(scanning, { timeout: 60_000 }).toBeGreaterThan(0)
  const first = (await status()).sourceScan
  process.kill(pid, 'SIGKILL')
  await cluster.stop()
  expect(first).toEqual(before.sourceScan)
  cluster.script(`fs.writeSync(1, '[]')`)
  await start()
  // The new process ends what the killed one left.
  await expect.poll(() => isRunning(scanning()), { timeout: 60_000 }).toBe(false)
  await expect.poll(async () => (await status()).scan?.sha256, { timeout: 60_000 }).toBe(sha256)
  await expect.poll(async () => (await status()).quarantinedBy, { timeout: 60_000 }).toBeUndefined()
  expect((await status()).sourceScan?.findings).toEqual([])
})

/** The scanner waits at archives with a word until the test lets it continue. */
function waitingScanner(word: string) {
  const [began, go] = [cluster.path(`${word}-began`), cluster.path(`${word}-go`)]
  cluster.script(`
if (text.includes('${word}')) fs.writeFileSync(${JSON.stringify(began)}, '')
const waiting = setInterval(() => {
  if (text.includes('${word}') && !fs.existsSync(${JSON.stringify(go)})) return
  clearInterval(waiting)
  fs.writeSync(1, JSON.stringify([{ vulnerabilityID: text }]))
}, 20)`)
  return {
    began: async () => {
      await expect.poll(() => existsSync(began), { timeout: 60_000 }).toBe(true)
    },
    letGo: () => writeFileSync(go, ''),
  }
}

it('has the findings in the status after the API server was unreachable during the scan', async () => {
  const scan = waitingScanner('outage')
  const sha256 = await store('# outage')
  await start()
  await scan.began()
  await cluster.plane.stopApiServer('kill')
  scan.letGo()
  await sleep(3_000)
  await cluster.plane.startApiServer()
  await expect.poll(async () => (await status()).scan?.sha256, { timeout: 60_000 }).toBe(sha256)
  expect((await status()).sourceScan?.findings).toMatchObject([{ vulnerabilityID: '# outage' }])
}, 120_000)

it('writes nothing for a Version that was deleted during its scan, and scans one that was created again', async () => {
  const scan = waitingScanner('deleted')
  await store('# deleted')
  const { adminUrl } = await start()
  await scan.began()
  await cluster.remove(name)
  const sha256 = await store('# anew')
  scan.letGo()
  await expect.poll(async () => (await status()).scan?.sha256, { timeout: 60_000 }).toBe(sha256)
  expect((await status()).sourceScan?.findings).toMatchObject([{ vulnerabilityID: '# anew' }])
  const metrics = async () => (await fetch(`${adminUrl}/metrics`)).text()
  expect(await metrics()).not.toContain('depot_scans_total{result="ScanFailed"}')
  await expect
    .poll(() => readdirSync(cluster.path('work/unpacked')), { timeout: 10_000 })
    .toEqual([])
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
