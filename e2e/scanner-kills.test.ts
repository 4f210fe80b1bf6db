import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ScannedCluster } from './scanned-cluster.fixture.ts'
import { Random } from './sync/edits/random.fixture.ts'

/* `depot scanner` and its program are killed at random moments: `DEPOT_E2E_KILLS=50 DEPOT_KILLS_SEED=1`. */

const kills = Number(process.env['DEPOT_E2E_KILLS'] ?? 6)
const seed = Number(process.env['DEPOT_KILLS_SEED'] ?? Date.now() % 1_000_000)
const names = ['one', 'two', 'three']
const findingsOfScan = 200
/** The text of each archive, by its digest. */
const texts = new Map<string, string>()
let cluster: ScannedCluster

beforeAll(async () => {
  cluster = await ScannedCluster.open()
  // Finds the text of the archive, slowly, and stores its process id, so that it can be killed.
  cluster.script(`
fs.writeFileSync(${JSON.stringify(cluster.path('pid'))}, fs.readlinkSync('/proc/self'))
const findings = Array.from({ length: ${findingsOfScan} }, (_, index) => ({ vulnerabilityID: text + '-' + index, severity: 'HIGH' }))
setTimeout(() => fs.writeSync(1, JSON.stringify(findings)), Math.random() * 300)`)
})
afterAll(() => cluster.close())

/** The text that the scan of each Version found. @throws Error if a status mixes parts of scans */
async function found(): Promise<(string | undefined)[]> {
  const versions = await cluster.versions()
  return versions.map(({ metadata, status: { scan, sourceScan } = {} }) => {
    if (scan === undefined && sourceScan === undefined) return undefined
    const text = texts.get(scan?.sha256 ?? '')
    const ids = sourceScan?.findings.map(({ vulnerabilityID }) => vulnerabilityID) ?? []
    const whole = Array.from({ length: findingsOfScan }, (_, index) => `${text}-${index}`)
    expect({ name: metadata.name, high: scan?.counts.high, ids }).toEqual({
      name: metadata.name,
      high: findingsOfScan,
      ids: whole.toSorted(),
    })
    return text
  })
}

/** Kills the program of a scan, unless it has just ended. */
function killProgram(): void {
  try {
    const pid = readFileSync(cluster.path('pid'), 'utf8')
    const isIt = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(cluster.path('scanner'))
    if (isIt) process.kill(Number(pid), 'SIGKILL')
  } catch {}
}

const textOf = (name: string, round: number) => `${name}-${round}`

it(`a status has a whole scan or the previous one, whichever process is killed (DEPOT_KILLS_SEED=${seed})`, async () => {
  const random = new Random(seed)
  for (let round = 0; round < kills; round += 1) {
    const before = await found()
    for (const name of names) {
      texts.set(await cluster.store(name, textOf(name, round)), textOf(name, round))
    }
    const { pid } = await cluster.start()
    await sleep(random.below(1_500))
    if (round % 2 === 0) process.kill(pid, 'SIGKILL')
    else killProgram()
    const after = await found()
    await cluster.stop()
    // A failed scan of another archive drops what is known of the previous archive.
    const allowed = [undefined, ...before, ...names.map((name) => textOf(name, round))]
    expect(allowed).toEqual(expect.arrayContaining(after))
  }
  await cluster.start()
  const last = names.map((name) => textOf(name, kills - 1)).toSorted()
  const sorted = async () => (await found()).map(String).toSorted()
  await expect.poll(sorted, { timeout: 60_000, interval: 250 }).toEqual(last)
  await cluster.stop()
  expect(readdirSync(cluster.path('work/unpacked'))).toEqual([])
}, 300_000)
