import { hash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { launchProgram, type Server } from '../hack/testbed/server/server.ts'
import type { Version } from '../pkg/api/v1alpha1/v1alpha1.ts'
import { zipOf } from '../pkg/archives/archive/packed.fixture.ts'
import { Random } from './sync/edits/random.fixture.ts'

/* `depot scanner` and its program are killed at random moments: `DEPOT_E2E_KILLS=50 DEPOT_KILLS_SEED=1`. */

const kills = Number(process.env['DEPOT_E2E_KILLS'] ?? 6)
const seed = Number(process.env['DEPOT_KILLS_SEED'] ?? Date.now() % 1_000_000)
const dir = mkdtempSync(join(tmpdir(), 'depot-scanner-kills-'))
const resources = '/apis/depot.internal/v1alpha1/namespaces/team'
const names = ['one', 'two', 'three']
const findingsOfScan = 200
/** The text of each archive, by its digest. */
const texts = new Map<string, string>()
let plane: ControlPlane
let kubeconfig: string
let running: Server | undefined

beforeAll(async () => {
  plane = await startControlPlane({ users: { scanner: ['system:masters'] } })
  await plane.admin.request('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
  await applyManifests(plane.admin, 'config/crd/bases')
  kubeconfig = await plane.kubeconfig({ user: 'scanner' })
  // It finds the text of the archive, slowly, and leaves its number, so that it can be killed.
  writeFileSync(
    join(dir, 'scanner'),
    `#!${process.execPath}
const fs = require('node:fs')
fs.writeFileSync(${JSON.stringify(join(dir, 'pid'))}, fs.readlinkSync('/proc/self'))
const text = fs.readFileSync(process.argv[3] + '/main.tf', 'utf8').trim()
const findings = Array.from({ length: ${findingsOfScan} }, (_, index) => ({ vulnerabilityID: text + '-' + index, severity: 'HIGH' }))
setTimeout(() => fs.writeSync(1, JSON.stringify(findings)), Math.random() * 300)
`,
  )
  chmodSync(join(dir, 'scanner'), 0o755)
})
afterAll(async () => {
  await running?.stop()
  await plane?.stop()
  rmSync(dir, { recursive: true })
})

async function start(): Promise<Server> {
  const flags = {
    kubeconfig,
    'admin-listen': '127.0.0.1:0',
    archives: join(dir, 'archives'),
    'work-dir': join(dir, 'work'),
    scanner: 'exec',
    'scanner-command': join(dir, 'scanner'),
  }
  running = await launchProgram(
    'cmd/scanner/main.ts',
    Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
    {},
  )
  return running
}

/** Gives a Version another archive. */
async function store(name: string, text: string): Promise<void> {
  const bytes = await zipOf([{ path: 'main.tf', content: text }])
  const sha256 = hash('sha256', bytes)
  texts.set(sha256, text)
  const fileName = `${name}-${sha256.slice(0, 12)}.zip`
  mkdirSync(join(dir, 'archives/stored', name), { recursive: true })
  writeFileSync(join(dir, 'archives/stored', name, fileName), bytes)
  await plane.admin.apply(`${resources}/versions/${name}`, {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Version',
    metadata: { namespace: 'team', name },
    spec: {
      type: 'Module',
      version: '1.0.0',
      upload: { fileName, sha256 },
      moduleConfigRef: {
        name,
        provider: 'aws',
        storageConfig: { fileSystem: { directoryPath: 'stored' } },
      },
    },
  })
}

/** The text that the scan of each Version found. @throws Error if a status has a part of a scan, or of two */
async function found(): Promise<(string | undefined)[]> {
  const { items } = (await plane.admin.request('GET', `${resources}/versions`)) as {
    items: Version[]
  }
  return items.map(({ metadata, status: { scan, sourceScan } = {} }) => {
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
    const pid = readFileSync(join(dir, 'pid'), 'utf8')
    const isIt = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(dir, 'scanner'))
    if (isIt) process.kill(Number(pid), 'SIGKILL')
  } catch {}
}

const textOf = (name: string, round: number) => `${name}-${round}`

it(`a status has a whole scan or the previous one, whenever either side is killed (DEPOT_KILLS_SEED=${seed})`, async () => {
  const random = new Random(seed)
  for (let round = 0; round < kills; round += 1) {
    const before = await found()
    for (const name of names) await store(name, textOf(name, round))
    const { pid } = await start()
    await sleep(random.below(1_500))
    if (round % 2 === 0) process.kill(pid, 'SIGKILL')
    else killProgram()
    const after = await found()
    await running?.stop()
    // A scan of another archive that failed drops what is known of the archive before.
    const allowed = [undefined, ...before, ...names.map((name) => textOf(name, round))]
    expect(allowed).toEqual(expect.arrayContaining(after))
  }
  await start()
  const last = names.map((name) => textOf(name, kills - 1)).toSorted()
  const sorted = async () => (await found()).map(String).toSorted()
  await expect.poll(sorted, { timeout: 60_000, interval: 250 }).toEqual(last)
  await running?.stop()
  expect(readdirSync(join(dir, 'work/unpacked'))).toEqual([])
}, 300_000)
