import { execFile } from 'node:child_process'
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { tarGzOf, zipOf } from '../../pkg/archives/archive/packed.fixture.ts'
import { TestIssuer } from '../../pkg/registry/auth/issuer.fixture.ts'
import { bundleProgram } from '../image/bundle.ts'
import { startControlPlane } from '../testbed/control-plane/control-plane.ts'
import { applyManifests } from '../testbed/control-plane/manifests.ts'
import { Registry } from '../testbed/registry/registry.ts'
import { launchProgram, type Server } from '../testbed/server/server.ts'
import { startUpstreams } from '../testbed/upstream/upstreams.ts'
import { cpuNanoseconds, residentMb } from './cpu.ts'
import { atLeast, atMost, goalTable } from './goals.ts'
import { writeModuleSource } from './module-source.ts'
import { median } from './rounds.ts'

/*
 * Publishing over HTTP, beside a real API server: a module of 1 MB by command and by PUT, fifty publishers at once, and the
 * way of a pushed tag from its webhook to the server.
 */

const { values } = parseArgs({ options: { 'provider-mib': { type: 'string', default: '700' } } })
const rounds = 10
const platforms = ['linux', 'darwin', 'windows', 'freebsd'].flatMap((os) =>
  ['amd64', 'arm64', '386'].map((arch) => `${os}_${arch}`),
)
const publishers = 50
const root = '/apis/depot.internal/v1alpha1/namespaces'
const dir = mkdtempSync(join(tmpdir(), 'depot-bench-publishing-'))
const registry = new Registry()
await using stops = new AsyncDisposableStack()
stops.defer(() => {
  registry.remove()
  rmSync(dir, { recursive: true })
})

const plane = await startControlPlane()
stops.defer(() => plane.stop())
const upstreams = await startUpstreams()
stops.use(upstreams)
const issuer = await TestIssuer.start()
stops.defer(() => issuer.stop())
await applyManifests(plane.admin, 'config/crd/bases')
for (const name of ['depot-system', 'team']) {
  await plane.admin.request('POST', '/api/v1/namespaces', { metadata: { name } })
}

const apply = (namespace: string, kind: string, name: string, spec: object): Promise<unknown> => {
  const object = {
    apiVersion: 'depot.internal/v1alpha1',
    kind,
    metadata: { name, namespace },
    spec,
  }
  return plane.admin.apply(`${root}/${namespace}/${kind.toLowerCase()}s/${name}`, object, 'bench')
}
const storageConfig = { fileSystem: { directoryPath: 'team' } }
await apply('depot-system', 'GroupBinding', 'all', {
  expression: 'true',
  moduleResources: ['*'],
  publishNamespaces: ['team'],
  providerResources: ['*'],
  publishModules: ['*'],
  publishProviders: ['*'],
})
const moduleNames = ['vpc', ...Array.from({ length: publishers }, (_, at) => `many-${at}`)]
for (const name of moduleNames) {
  await apply('team', 'Module', name, { moduleConfig: { name, provider: 'aws', storageConfig } })
}
const providerStorage = { fileSystem: { directoryPath: 'providers' } }
await apply('team', 'Provider', 'large', {
  providerConfig: { name: 'large', storageConfig: providerStorage },
})
const secret = randomBytes(32).toString('hex')
await plane.admin.request('POST', '/api/v1/namespaces/team/secrets', {
  metadata: { name: 'hook' },
  stringData: { secret },
})
await apply('team', 'Depot', 'main', {
  webhook: { secretRef: { name: 'hook' } },
  pollingIntervalMinutes: 60,
  moduleConfigs: [{ name: 'pushed', provider: 'aws', repoOwner: 'acme', storageConfig }],
})
upstreams.github.tag('acme/pushed', 'v1.0.0', { 'main.tf': 'output "a" {\n  value = 1\n}\n' })

const callers = ['--oidc-issuer-url', issuer.url, '--oidc-client-id', 'depot']
const cluster = ['--kubeconfig', plane.kubeconfigFile]
// Programs as the image has them: to read TypeScript takes time and memory that users do not see.
await bundleProgram(dir)
const depot = join(dir, 'depot.mjs')
const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
const storage = ['--archives', registry.archives, '--storage-grants', '*=*']
async function start(name: string, ...flags: readonly string[]): Promise<Server> {
  const all = [...cluster, ...callers, ...storage, ...listen, ...flags]
  const started = await launchProgram([depot, name], all, { POD_NAMESPACE: 'depot-system' })
  stops.defer(async () => void (await started.stop()))
  return started
}
const spool = ['--spool-dir', join(dir, 'spool')]
const controller = await start('controller', ...upstreams.flags, ...spool)
const stats = ['--stats-path', join(dir, 'stats.db')]
await registry.sign()
const key = ['--gpg-private-key-path', registry.signingKey ?? '']
const server = await start('server', ...stats, ...key, '--sync-url', controller.url)
while (!(await fetch(`${server.adminUrl}/readyz`)).ok) await sleep(50)

const tokenOf = (sub: string) => issuer.sign({ sub })
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const archive = () =>
  tarGzOf([
    { path: 'main.tf', content: 'output "a" {\n  value = 1\n}\n' },
    { path: 'picture.bin', content: randomBytes(1_000_000) },
  ])

async function put(name: string, version: string, body: Buffer, token: string): Promise<number> {
  const answer = await fetch(`${server.url}/depot/publish/v1/modules/team/${name}/aws/${version}`, {
    method: 'PUT',
    body,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/gzip',
      'x-depot-sha256': digestOf(body),
    },
  })
  const text = await answer.text()
  if (answer.status >= 400 && answer.status !== 503) throw new Error(`${answer.status}: ${text}`)
  return answer.status
}

const reader = await tokenOf('reader')
async function isServed(name: string, version: string): Promise<boolean> {
  const answer = await fetch(`${server.url}/depot/modules/v1/team/${name}/aws/versions`, {
    headers: { authorization: `Bearer ${reader}` },
  })
  return (await answer.text()).includes(`"${version}"`)
}

/** Sends again while the registry asks for that, as `depot publish` does. */
async function publish(name: string, version: string, body: Buffer, token: string) {
  let again = 0
  while ((await put(name, version, body, token)) === 503) {
    again += 1
    await sleep(200)
  }
  return again
}

// The controller answers 503 until it has loaded, and the first publication loads what packs archives.
await publish('vpc', '0.1.0', await archive(), reader)

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

const config = join(dir, 'cli.tfrc')
const services = ['modules', 'providers'].map(
  (kind) => `"${kind}.v1" = "${server.url}/depot/${kind}/v1/"\n`,
)
writeFileSync(config, `host "depot.test" {\n  services = {\n${services.join('')}}\n}\n`)
writeFileSync(join(dir, 'token'), reader)

/** Runs a command to its end, when the server serves the version. @returns its time, its CPU time and its memory */
async function command(kind: string, path: string, to: string, version: string) {
  const usage = join(dir, 'usage.json')
  const node = ['--import', join(import.meta.dirname, 'usage.ts'), depot, 'publish', kind, path]
  const args = [
    '--to',
    `depot.test/${to}`,
    '--version',
    version,
    '--token-file',
    join(dir, 'token'),
  ]
  const env = { ...process.env, TF_CLI_CONFIG_FILE: config, DEPOT_USAGE: usage }
  const ms = await timed(() => promisify(execFile)(process.execPath, [...node, ...args], { env }))
  const used = JSON.parse(readFileSync(usage, 'utf8')) as { cpuSeconds: number; maxRssMib: number }
  return { ms, ...used }
}

async function byCommand() {
  const source = join(dir, 'source')
  const runs: Awaited<ReturnType<typeof command>>[] = []
  for (let round = 0; round < rounds; round += 1) {
    writeModuleSource(source, String(round))
    const version = `1.${round}.0`
    runs.push(await command('module', source, 'team/vpc/aws', version))
    if (!(await isServed('vpc', version))) throw new Error(`${version} is not served`)
  }
  return runs
}

/** Zips of a provider as large as the largest ones, for twelve platforms. */
async function largeProvider() {
  const dist = join(dir, 'dist')
  mkdirSync(dist)
  const size = Math.floor((Number(values['provider-mib']) * 2 ** 20) / platforms.length)
  for (const platform of platforms) {
    const entry = {
      path: 'terraform-provider-large_v1.0.0',
      content: randomBytes(size),
      mode: 0o755,
    }
    const file = join(dist, `terraform-provider-large_1.0.0_${platform}.zip`)
    writeFileSync(file, await zipOf([entry]))
  }
  const run = await command('provider', dist, 'team/large', '1.0.0')
  return { ...run, server: residentMb(server.pid), controller: residentMb(controller.pid) }
}

const cpuMs = () => (cpuNanoseconds(server.pid) + cpuNanoseconds(controller.pid)) / 1e6

/** From the first byte of a request to the last of its answer, and the CPU time of both processes. */
async function byPut() {
  const times: number[] = []
  const before = cpuMs()
  for (let round = 0; round < 2 * rounds; round += 1) {
    const body = await archive()
    times.push(await timed(() => publish('vpc', `2.${round}.0`, body, reader)))
  }
  return { times, cpuMs: (cpuMs() - before) / times.length }
}

async function manyAtOnce() {
  const bodies = await Promise.all(Array.from({ length: publishers }, archive))
  const tokens = await Promise.all(bodies.map((_, at) => tokenOf(`publisher-${at}`)))
  const startedMs = performance.now()
  const again = await Promise.all(
    bodies.map((body, at) => publish(`many-${at}`, '1.0.0', body, tokens[at] ?? '')),
  )
  const seconds = (performance.now() - startedMs) / 1000
  const served = await Promise.all(bodies.map((_, at) => isServed(`many-${at}`, '1.0.0')))
  return {
    served: served.filter((is) => is).length,
    seconds,
    repeated: again.reduce((sum, one) => sum + one, 0),
  }
}

/** From the webhook of a pushed tag until the server serves it. */
async function byWebhook(): Promise<number[]> {
  const body = '{"ref":"v1"}'
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const send = () =>
    fetch(`${server.url}/depot/hooks/github/team/main`, {
      method: 'POST',
      body,
      headers: { 'x-hub-signature-256': signature },
    })
  while (!(await isServed('pushed', '1.0.0'))) await sleep(100)
  const times: number[] = []
  for (let round = 1; round <= 3; round += 1) {
    // A Depot polls for webhooks once in ten seconds.
    await sleep(10_500)
    const version = `1.${round}.0`
    upstreams.github.tag('acme/pushed', `v${version}`, { 'main.tf': `# ${version}\n` })
    times.push(
      await timed(async () => {
        const { status } = await send()
        if (status !== 202) throw new Error(`the webhook was answered ${status}`)
        while (!(await isServed('pushed', version))) await sleep(10)
      }),
    )
  }
  return times
}

const slowest = (times: readonly number[], unit: 's' | 'ms') =>
  `slowest ${unit === 's' ? (Math.max(...times) / 1000).toFixed(2) : Math.max(...times).toFixed(0)} ${unit}`
const commands = await byCommand()
const puts = await byPut()
const beforeMany = { server: residentMb(server.pid), controller: residentMb(controller.pid) }
const many = await manyAtOnce()
const memory = { server: residentMb(server.pid), controller: residentMb(controller.pid) }
const hooks = await byWebhook()
const large = await largeProvider()
console.log(
  goalTable([
    atMost(
      'depot publish of 1 MB over HTTP until it is served, median, s',
      2,
      median(commands.map(({ ms }) => ms)) / 1000,
      `${slowest(
        commands.map(({ ms }) => ms),
        's',
      )}; ${median(commands.map(({ cpuSeconds }) => cpuSeconds)).toFixed(2)} s of CPU`,
    ),
    atMost(
      'PUT of 1 MB until it is served, median, ms',
      300,
      median(puts.times),
      `${slowest(puts.times, 'ms')}; ${puts.cpuMs.toFixed(0)} ms of CPU`,
    ),
    atLeast(
      `versions served of ${publishers} that are published at once`,
      publishers,
      many.served,
      `all in ${many.seconds.toFixed(1)} s; ${many.repeated} were asked to come again`,
    ),
    ...(['server', 'controller'] as const).map((name) =>
      atMost(
        `the same: memory of the ${name} at its highest, MB`,
        250,
        memory[name].highest,
        `${beforeMany[name].now.toFixed(0)} MB before, ${memory[name].now.toFixed(0)} MB afterwards`,
      ),
    ),
    atMost(
      'webhook until the tag is served, median, s',
      5,
      median(hooks) / 1000,
      slowest(hooks, 's'),
    ),
    ...(['server', 'controller'] as const).map((name) =>
      atMost(
        `memory of the ${name} at its highest, after a provider of ${values['provider-mib']} MiB on 12 platforms, MB`,
        250,
        large[name].highest,
        `${(large.ms / 1000).toFixed(0)} s; the command took ${large.maxRssMib.toFixed(0)} MiB`,
      ),
    ),
  ]),
)
