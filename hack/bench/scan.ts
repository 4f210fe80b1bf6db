import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Version } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { zipOf } from '../../pkg/archives/archive/packed.fixture.ts'
import { startControlPlane } from '../testbed/control-plane/control-plane.ts'
import { applyManifests } from '../testbed/control-plane/manifests.ts'
import { toolPath } from '../testbed/tools.ts'
import { atMost, goalTable } from './goals.ts'

/*
 * The cost of scanning a cluster with Trivy: a look at Versions whose scans are up to date, and the memory of a controller while
 * a large provider is scanned beside it. `node hack/bench/scan.ts --versions 20000 --provider-mib 700`
 */

const { values } = parseArgs({
  options: {
    versions: { type: 'string', default: '20000' },
    'provider-mib': { type: 'string', default: '700' },
  },
})
const versions = Number(values.versions)
const providerMib = Number(values['provider-mib'])
const dir = mkdtempSync(join(tmpdir(), 'depot-bench-scan-'))
const [trivy, database] = [toolPath('trivy'), toolPath('trivy-db')]
const resources = '/apis/depot.internal/v1alpha1/namespaces/bench'
const storageConfig = { fileSystem: { directoryPath: 'stored' } }
const plane = await startControlPlane({
  users: { scanner: ['system:masters'], controller: ['system:masters'] },
})

interface Running {
  readonly child: ChildProcess
  /** The sum of the series of a metric. */
  readonly metric: (series: RegExp) => Promise<number>
}

/** Starts a command that follows the cluster. */
async function start(
  command: 'scanner' | 'controller',
  flags: readonly string[],
): Promise<Running> {
  const kubeconfig = await plane.kubeconfig({ user: command })
  const main = ['--import', join(import.meta.dirname, 'usage.ts'), 'cmd/depot/main.ts', command]
  const own = [
    '--admin-listen=127.0.0.1:0',
    `--kubeconfig=${kubeconfig}`,
    `--archives=${join(dir, 'archives')}`,
  ]
  const child = spawn(process.execPath, [...main, ...own, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, DEPOT_USAGE: usageOf(command) },
  })
  const listening = Promise.withResolvers<string>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.includes('"msg":"listening"')) listening.resolve(JSON.parse(line).adminUrl)
  })
  const adminUrl = await listening.promise
  return {
    child,
    async metric(series) {
      const text = await (await fetch(`${adminUrl}/metrics`)).text()
      return [...text.matchAll(series)].reduce((sum, [, count]) => sum + Number(count), 0)
    },
  }
}

const usageOf = (command: string): string => join(dir, `${command}.json`)

async function stop({ child }: Running): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'exit')
}

const startScanner = (): Promise<Running> =>
  start('scanner', [
    `--scanner-command=${trivy}`,
    `--trivy-cache-dir=${join(dir, 'cache')}`,
    `--work-dir=${join(dir, 'work')}`,
  ])

/** Waits for a look to be true. */
async function until(look: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 1_800_000; !(await look()); await sleep(500)) {
    if (Date.now() > deadline) throw new Error('nothing happened for half an hour')
  }
}

const scanner = JSON.parse(
  execFileSync(trivy, [
    'version',
    '--format',
    'json',
    '--cache-dir',
    join(dir, 'cache'),
  ]).toString(),
).Version as string

const finding = (index: number) => ({
  vulnerabilityID: `AWS-${index}`,
  pkgName: 'aws_s3_bucket.logs',
  installedVersion: '',
  severity: 'MEDIUM',
  title: 'S3 Access block should block public ACL',
})

/** A module whose archive was scanned, with 20 findings, as a scanner has written it. */
async function createScanned(index: number): Promise<void> {
  const name = `module-${index}`
  const sha256 = hash('sha256', name)
  await plane.admin.request('POST', `${resources}/versions`, {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Version',
    metadata: { name },
    spec: {
      type: 'Module',
      version: '1.0.0',
      upload: { fileName: `${name}.zip`, sha256 },
      moduleConfigRef: { name, provider: 'aws', storageConfig },
    },
  })
  const status: Version['status'] = {
    checksum: Buffer.from(sha256, 'hex').toString('base64'),
    synced: true,
    sourceScan: {
      scannedAt: '2026-11-01T00:00:00Z',
      findings: Array.from({ length: 20 }, (_, at) => finding(at)),
    },
    scan: {
      sha256,
      scanner: `trivy ${scanner}`,
      database: 'embedded checks',
      counts: { critical: 0, high: 0, medium: 20, low: 0, unknown: 0 },
    },
  }
  await plane.admin.request(
    'PATCH',
    `${resources}/versions/${name}/status`,
    { status },
    'application/merge-patch+json',
  )
}

const written = () =>
  readFileSync(plane.auditLogFile, 'utf8')
    .split('\n')
    .filter(
      (line) =>
        line.includes('"username":"scanner"') && /"verb":"(patch|update|create)"/.test(line),
    ).length

async function unchangedVersions() {
  const indexes = Array.from({ length: versions }, (_, index) => index).values()
  const fill = async () => {
    for (const index of indexes) await createScanned(index)
  }
  await Promise.all(Array.from({ length: 16 }, fill))
  const before = written()
  const running = await startScanner()
  // One of them is the provider.
  const looks = /^depot_sync_duration_seconds_count\{kind="Scan"\} (\d+)$/gm
  await until(async () => (await running.metric(looks)) > versions)
  await stop(running)
  const { cpuSeconds, maxRssMib } = JSON.parse(readFileSync(usageOf('scanner'), 'utf8'))
  return [
    atMost(
      `CPU seconds of a scanner that starts with ${versions} scanned Versions`,
      20,
      cpuSeconds,
      `${maxRssMib.toFixed(0)} MiB`,
    ),
    atMost('writes of that scanner', 0, written() - before),
  ]
}

const rssMib = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

async function largeProvider() {
  execFileSync(database, [join(dir, 'cache'), 'v99.0.0'])
  const program = readFileSync(database)
  const padding = randomBytes(providerMib * 1024 * 1024 - program.length)
  const fileName = 'terraform-provider-large_1.0.0_linux_amd64.zip'
  const zip = await zipOf([
    { path: 'terraform-provider-large_v1', content: Buffer.concat([program, padding]) },
  ])
  mkdirSync(join(dir, 'archives/stored/large'), { recursive: true })
  writeFileSync(join(dir, 'archives/stored/large', fileName), zip)
  await plane.admin.apply(`${resources}/versions/large-1-0-0`, {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Version',
    metadata: { name: 'large-1-0-0', namespace: 'bench' },
    spec: {
      type: 'Provider',
      version: '1.0.0',
      upload: { fileName, sha256: hash('sha256', zip) },
      operatingSystem: 'linux',
      architecture: 'amd64',
      providerConfigRef: { name: 'large', storageConfig },
    },
  })
  const status = async () =>
    ((await plane.admin.request('GET', `${resources}/versions/large-1-0-0`)) as Version).status
  const controller = await start('controller', [
    '--namespace=bench',
    `--spool-dir=${join(dir, 'spool')}`,
  ])
  await until(async () => (await status())?.synced === true)
  await sleep(10_000)
  const before = rssMib(controller.child.pid)
  const running = await startScanner()
  let most = before
  await until(async () => {
    most = Math.max(most, rssMib(controller.child.pid))
    return (await status())?.binaryScan !== undefined
  })
  await stop(running)
  await stop(controller)
  const { maxRssMib } = JSON.parse(readFileSync(usageOf('scanner'), 'utf8'))
  return [
    atMost(
      `MiB by which a controller grows while a provider of ${providerMib} MiB is scanned`,
      10,
      most - before,
      `of ${before.toFixed(0)} MiB; the scanner without Trivy had ${maxRssMib.toFixed(0)} MiB`,
    ),
  ]
}

try {
  await plane.admin.request('POST', '/api/v1/namespaces', { metadata: { name: 'bench' } })
  await applyManifests(plane.admin, 'config/crd/bases')
  const goals = [...(await largeProvider()), ...(await unchangedVersions())]
  process.stdout.write(`${goalTable(goals)}\n`)
} finally {
  await plane.stop()
  rmSync(dir, { recursive: true })
}
