import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { depotCommand } from '../cmd/import/import.fixture.ts'
import { bareEnvironment } from '../hack/testbed/environment.ts'
import { freePorts } from '../hack/testbed/ports.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { launchProgram, type Server } from '../hack/testbed/server/server.ts'
import { TestIssuer } from '../pkg/registry/auth/issuer.fixture.ts'
import { ControlledCluster } from './sync/controlled-cluster.fixture.ts'
import { Random } from './sync/edits/random.fixture.ts'

/* Publishing over HTTP while the client, the server or the controller is killed: all of a version is there, or nothing. */

/** `DEPOT_E2E_KILLS=50` asks for more; each takes some seconds. The seed decides whom to kill, and when. */
const kills = Number(process.env['DEPOT_E2E_KILLS'] || 8)
const seed = Number(process.env['DEPOT_E2E_SEED'] || Date.now() % 1_000_000)
const random = new Random(seed)
const archiveBytes = 4_000_000
const callers = ['--oidc-client-id', 'depot', '--oidc-issuer-url']

const registry = new Registry()
const cwd = registry.dir
let cluster: ControlledCluster
let issuer: TestIssuer
let controllerPort: number
let serverPort: number
let controller: Server
let server: Server

const startController = () =>
  cluster.startController('--listen', `127.0.0.1:${controllerPort}`, ...callers, issuer.url)

const startServer = () =>
  launchProgram(
    'cmd/server/main.ts',
    [
      '--archives',
      registry.archives,
      '--storage-grants',
      '*=*',
      '--listen',
      `127.0.0.1:${serverPort}`,
      '--admin-listen',
      '127.0.0.1:0',
      '--kubeconfig',
      cluster.plane.kubeconfigFile,
      ...callers,
      issuer.url,
      '--sync-url',
      `http://127.0.0.1:${controllerPort}`,
    ],
    {},
  )

beforeAll(async () => {
  cluster = await ControlledCluster.start('team')
  cluster.archives = registry.archives
  issuer = await TestIssuer.start()
  const [first = 0, second = 0] = await freePorts(2)
  controllerPort = first
  serverPort = second
  await cluster.apply('GroupBinding', 'depot-system', 'all', {
    spec: {
      expression: 'true',
      moduleResources: ['*'],
      publishNamespaces: ['team'],
      publishModules: ['*'],
    },
  })
  const storageConfig = { fileSystem: { directoryPath: 'team' } }
  await cluster.apply('Module', 'team', 'vpc', {
    spec: { moduleConfig: { name: 'vpc', provider: 'aws', storageConfig } },
  })
  mkdirSync(join(cwd, 'tmp'))
  writeFileSync(join(cwd, 'token'), await issuer.sign())
  const modules = `"modules.v1" = "http://127.0.0.1:${serverPort}/depot/modules/v1/"`
  writeFileSync(join(cwd, 'cli.tfrc'), `host "depot.test" {\n  services = { ${modules} }\n}\n`)
  ;[controller, server] = await Promise.all([startController(), startServer()])
})
afterAll(async () => {
  await server?.stop()
  await controller?.stop()
  await cluster?.stop()
  issuer?.stop()
  registry.remove()
})

/** Writes a module whose archive has the same size and other bytes for each version. */
function writeModule(name: string, version: string): string {
  const own = new Random(seed + version.split('.').reduce((sum, part) => sum * 1000 + +part, 0))
  mkdirSync(join(cwd, name), { recursive: true })
  const bytes = Buffer.alloc(archiveBytes)
  for (let at = 0; at < archiveBytes; at += 4) bytes.writeUInt32LE(own.below(2 ** 32), at)
  writeFileSync(join(cwd, name, 'picture.bin'), bytes)
  writeFileSync(join(cwd, name, 'main.tf'), `output "v" {\n  value = "${name} ${version}"\n}\n`)
  return name
}

function publish(folder: string, version: string) {
  const to = ['--to', 'depot.test/team/vpc/aws', '--version', version]
  const [node, program] = depotCommand
  const args = [program, 'publish', 'module', folder, ...to, '--token-file', 'token']
  const child = spawn(node, args, {
    cwd,
    env: {
      ...bareEnvironment,
      TMPDIR: join(cwd, 'tmp'),
      TF_CLI_CONFIG_FILE: join(cwd, 'cli.tfrc'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = (async () => {
    const exited = once(child, 'exit') as Promise<[number | null]>
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [status] = await exited
    return { status, stdout, stderr }
  })()
  // Says false, and throws nothing, if the command has just ended.
  return { kill: () => child.kill('SIGKILL'), ended }
}

/** Runs the command until both processes answer again, as its exit status 3 asks for. */
const finish = (folder: string, version: string) =>
  vi.waitFor(
    async () => {
      const run = await publish(folder, version).ended
      if (run.status === 3) throw new Error(run.stderr)
      return run
    },
    { timeout: 120_000, interval: 250 },
  )

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

interface Published {
  readonly spec: {
    readonly version: string
    readonly upload: {
      readonly fileName: string
      readonly sha256: string
      readonly docs?: { readonly sha256: string }
    }
  }
}

/** The Version of a number, whose archive and documentation must be in storage whole. */
async function versionOf(number: string): Promise<Published | undefined> {
  const all = (await cluster.list('Version', 'team')) as unknown as readonly Published[]
  const found = all.filter(({ spec }) => spec.version === number)
  expect(found.length).toBeLessThan(2)
  for (const { spec } of found) {
    const { fileName, sha256, docs } = spec.upload
    const file = cluster.stored('team').find((path) => path.endsWith(fileName))
    expect(file).toBeDefined()
    expect(digestOf(readFileSync(join(registry.archives, 'team', file ?? '')))).toBe(sha256)
    const written = cluster
      .stored('team')
      .filter((path) => path.endsWith('.docs.json.gz'))
      .map((path) => digestOf(readFileSync(join(registry.archives, 'team', path))))
    expect(written).toContain(docs?.sha256)
  }
  return found[0]
}

/** The bytes that the server hands out; undefined if it lists no such version. */
async function served(version: string): Promise<Buffer | undefined> {
  const authorization = `Bearer ${await issuer.sign()}`
  const download = `http://127.0.0.1:${serverPort}/depot/modules/v1/team/vpc/aws/${version}/download`
  const answer = await fetch(download, { headers: { authorization } })
  if (answer.status === 404) return undefined
  expect(answer.status).toBe(204)
  const archive = new URL(answer.headers.get('x-terraform-get') ?? '', download)
  archive.search = archive.search.replace(/archive=[^&]*&?/, '')
  return Buffer.from(await (await fetch(archive, { headers: { authorization } })).arrayBuffer())
}

const victims = ['client', 'server', 'controller'] as const

async function killAndRestart(victim: 'server' | 'controller'): Promise<void> {
  if (victim === 'server') {
    process.kill(server.pid, 'SIGKILL')
    await server.stop()
    server = await startServer()
  } else {
    process.kill(controller.pid, 'SIGKILL')
    await controller.stop()
    await cluster.forgetLease()
    controller = await startController()
  }
}

it(`has all of a version or nothing after each of ${kills} kills, and the same command finishes (DEPOT_E2E_SEED=${seed})`, {
  timeout: 120_000 + kills * 30_000,
}, async () => {
  writeModule('calm', '1.0.0')
  await finish('calm', '1.0.0')
  writeModule('calm', '1.1.0')
  const startedMs = performance.now()
  expect(await publish('calm', '1.1.0').ended).toMatchObject({ status: 0 })
  const usualMs = performance.now() - startedMs

  const seen = { nothing: 0, all: 0 }
  for (let at = 0; at < kills; at += 1) {
    const version = `2.${at}.0`
    const victim = random.pick(victims)
    const delayMs = random.next() * usualMs
    const what = `${version}: ${victim} killed after ${delayMs.toFixed(0)} of ${usualMs.toFixed(0)} ms, seed ${seed}`
    const folder = writeModule('source', version)
    const run = publish(folder, version)
    await sleep(delayMs)
    if (victim === 'client') run.kill()
    else await killAndRestart(victim)
    const first = await run.ended
    const isThere = (await versionOf(version)) !== undefined
    seen[isThere ? 'all' : 'nothing'] += 1
    // A client that ended well told the truth.
    expect({ what, isThere: isThere || first.status !== 0 }).toEqual({ what, isThere: true })
    const again = await finish(folder, version)
    const record = await versionOf(version)
    const digest = record?.spec.upload.sha256 ?? 'of a Version'
    const bytes = await served(version)
    expect({ what, ...again, sha256: digestOf(bytes ?? Buffer.alloc(0)) }).toEqual({
      what,
      status: 0,
      stderr: '',
      stdout: expect.stringContaining(digest) as unknown,
      sha256: digest,
    })
  }
  expect(seen.nothing + seen.all).toBe(kills)

  // Nothing is left over: not in storage, and not in the spool of a controller that runs.
  const versions = (await cluster.list('Version', 'team')) as unknown as readonly Published[]
  expect(versions).toHaveLength(kills + 2)
  expect(cluster.stored('team')).toHaveLength(2 * versions.length)
  const spool = () =>
    readdirSync(join(cluster.dir, 'spool'), { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile(),
    )
  await expect.poll(spool).toEqual([])
})

it('lets one of two who publish a version at once win, tells the other both digests, and takes the same bytes again', async () => {
  const folders = [writeModule('one', '3.0.0'), writeModule('other', '3.0.1')]
  const runs = await Promise.all(folders.map((folder) => publish(folder, '3.0.0').ended))
  expect(new Set(runs.map(({ status }) => status))).toEqual(new Set([0, 1]))
  const winner = runs.findIndex(({ status }) => status === 0)
  const sha256 = (await versionOf('3.0.0'))?.spec.upload.sha256 ?? ''
  const refusal = runs[1 - winner]?.stderr ?? ''
  expect(new Set(refusal.match(/[0-9a-f]{64}/g)).size).toBe(2)
  expect(refusal).toContain(sha256)
  const again = await publish(folders[winner] ?? '', '3.0.0').ended
  expect(again).toMatchObject({ status: 0, stderr: '' })
  expect(again.stdout).toContain('it was published already')
  expect(digestOf((await served('3.0.0')) ?? Buffer.alloc(0))).toBe(sha256)
})
