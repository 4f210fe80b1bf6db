import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { looksOf, ScannedCluster } from './scanned-cluster.fixture.ts'

/* Two scanners of one cluster. */

const names = Array.from({ length: 12 }, (_, index) => `module-${index}`)
let cluster: ScannedCluster

beforeAll(async () => {
  cluster = await ScannedCluster.open()
  cluster.script(`
fs.appendFileSync(${JSON.stringify(cluster.path('runs'))}, text + ' ')
const findings = Array.from({ length: 100 }, (_, index) => ({ vulnerabilityID: text + '-' + index, severity: 'HIGH' }))
setTimeout(() => fs.writeSync(1, JSON.stringify(findings)), 400)`)
})
afterAll(() => cluster.close())

/** Gives each Version an archive with its own text, and forgets earlier runs. */
async function storeAll(round: string): Promise<void> {
  writeFileSync(cluster.path('runs'), '')
  for (const name of names) await cluster.store(name, `${name}-${round}`)
}

/** Number of Versions with the scan of their archive. @throws Error if findings are missing or repeated */
async function scanned(round: string): Promise<number> {
  let count = 0
  for (const { metadata, spec, status } of await cluster.versions()) {
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

const runs = () => readFileSync(cluster.path('runs'), 'utf8').split(' ').filter(Boolean)

it('share the work of a start, and agree about their findings', async () => {
  await storeAll('first')
  await Promise.all([cluster.start('one'), cluster.start('two')])
  await expect.poll(() => scanned('first'), { timeout: 60_000 }).toBe(names.length)
  await cluster.stop()
  expect(new Set(runs()).size).toBe(names.length)
  // Both may choose the same one at the same time.
  expect(runs().length).toBeLessThan(names.length * 1.5)
  const revisions = async () =>
    (await cluster.versions()).map(({ metadata }) => metadata.resourceVersion)
  const before = await revisions()
  const again = await cluster.start('one')
  await expect.poll(() => looksOf(again), { timeout: 60_000 }).toBeGreaterThanOrEqual(names.length)
  expect(await revisions()).toEqual(before)
  await cluster.stop()
}, 120_000)

it('one takes over the work of the other if that is killed', async () => {
  await storeAll('second')
  const [one] = await Promise.all([cluster.start('one'), cluster.start('two')])
  await expect
    .poll(() => scanned('second'), { timeout: 60_000, interval: 50 })
    .toBeGreaterThanOrEqual(2)
  process.kill(one.pid, 'SIGKILL')
  expect(await scanned('second')).toBeLessThan(names.length)
  await expect.poll(() => scanned('second'), { timeout: 60_000 }).toBe(names.length)
}, 120_000)
