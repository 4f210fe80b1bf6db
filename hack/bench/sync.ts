import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { zipOf } from '../../pkg/archives/archive/packed.fixture.ts'
import { Registry } from '../testbed/registry/registry.ts'
import { startUpstreams } from '../testbed/upstream/upstreams.ts'
import { atMost, goalTable } from './goals.ts'

/*
 * Measures the cost of filling a registry, by `depot sync` over stand-ins of the upstreams: a poll of modules that have not changed, and
 * the memory of large providers in flight. `node hack/bench/sync.ts --modules 100 --provider-mib 100`
 */

const { values } = parseArgs({
  options: {
    modules: { type: 'string', default: '1000' },
    versions: { type: 'string', default: '20' },
    'provider-mib': { type: 'string', default: '200' },
    /** Also print the output of `depot sync`. */
    verbose: { type: 'boolean', default: false },
  },
})
const modules = Number(values.modules)
const versions = Number(values.versions)
const providerMib = Number(values['provider-mib'])
const platforms = ['linux_amd64', 'linux_arm64']

interface Usage {
  readonly cpuSeconds: number
  readonly maxRssMib: number
}

const upstreams = await startUpstreams()
/** Only two archives of a host are fetched at a time. */
const others = await startUpstreams()
const caFile = join(mkdtempSync(join(tmpdir(), 'depot-bench-')), 'ca.pem')
writeFileSync(caFile, [upstreams, others].map((one) => readFileSync(one.caFile)).join(''))
const flagsOfBoth = [
  ...upstreams.flags.filter(
    (flag) => !/^--(upstream-hosts|egress-allow|egress-ca-path)=/.test(flag),
  ),
  `--upstream-hosts=${upstreams.registry.host},${others.registry.host}`,
  `--egress-allow=${upstreams.registry.downloadHost},${others.registry.downloadHost}`,
  `--egress-ca-path=${caFile}`,
]

/** Runs `depot sync` to its end. */
async function run({ manifests, archives, dir }: Registry): Promise<Usage & { requests: number }> {
  upstreams.github.forget()
  const usage = join(dir, 'usage.json')
  const flags = ['--manifests', manifests, '--archives', archives, '--log-level=error']
  const program = ['--import', join(import.meta.dirname, 'usage.ts'), 'cmd/depot/main.ts', 'sync']
  const child = spawn(
    process.execPath,
    program.concat(flags, ['--spool-dir', join(dir, 'spool')], flagsOfBoth),
    {
      stdio: ['ignore', values.verbose ? 'inherit' : 'ignore', 'inherit'],
      env: { ...process.env, DEPOT_USAGE: usage },
    },
  )
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`depot sync ended with ${code}`)
  const requests = upstreams.github.asked.length
  return { ...(JSON.parse(readFileSync(usage, 'utf8')) as Usage), requests }
}

function depot(spec: object): object {
  return {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Depot',
    metadata: { name: 'main', namespace: 'team' },
    spec: { global: { storageConfig: { fileSystem: { directoryPath: 'depot' } } }, ...spec },
  }
}

async function unchangedModules() {
  // More than GitHub gives in an hour.
  upstreams.github.remaining = 10_000_000
  const names = Array.from({ length: modules }, (_, index) => `module-${index}`)
  for (const name of names) {
    for (let minor = 0; minor < versions; minor += 1) {
      const text = `output "version" {\n  value = "${name} ${minor}"\n}\n`
      upstreams.github.tag(`acme/${name}`, `v1.${minor}.0`, { 'main.tf': text })
    }
  }
  const registry = new Registry()
  const configs = names.map((name) => ({ name, provider: 'aws', repoOwner: 'acme' }))
  registry.write('main.yaml', [depot({ moduleConfigs: configs })])
  const filled = await run(registry)
  const polled = await run(registry)
  registry.remove()
  const filling = `${filled.cpuSeconds.toFixed(1)} s to fill, ${filled.maxRssMib.toFixed(0)} MiB`
  return [
    atMost(
      `CPU seconds of a poll of ${modules} modules with ${versions} versions, start included`,
      (60 * modules) / 1000,
      polled.cpuSeconds,
      filling,
    ),
    atMost('requests a repository of that poll', 1, polled.requests / modules),
  ]
}

async function largeProviders() {
  // The same bytes for all: what counts is what is in flight, and this process has to hold them.
  const content = randomBytes(providerMib * 1024 * 1024)
  const zip = await zipOf([{ path: 'terraform-provider-large_v1', content }])
  for (const { registry, key } of [upstreams, others]) {
    registry.addProvider({
      address: 'acme/large',
      version: '1.0.0',
      platforms: Object.fromEntries(platforms.map((platform) => [platform, zip])),
      key,
    })
  }
  const registry = new Registry()
  // In folders of their own: the archives of both have one name.
  const providerConfigs = [upstreams, others].map(({ registry: { host: upstreamHost } }, index) => {
    const storageConfig = { fileSystem: { directoryPath: String(index) } }
    return { name: 'large', namespace: 'acme', upstreamHost, storageConfig }
  })
  for (const [index, config] of providerConfigs.entries()) {
    const metadata = { name: `large-${index}`, namespace: `team-${index}` }
    registry.write(`${index}.yaml`, [{ ...depot({ providerConfigs: [config] }), metadata }])
  }
  const { maxRssMib, cpuSeconds } = await run(registry)
  registry.remove()
  const what = `MiB of memory with four archives of ${providerMib} MiB in flight`
  return [atMost(what, 300, maxRssMib, `${cpuSeconds.toFixed(1)} s of CPU`)]
}

process.stdout.write(`${goalTable([...(await largeProviders()), ...(await unchangedModules())])}\n`)
await Promise.all([upstreams, others].map((one) => one[Symbol.asyncDispose]()))
rmSync(dirname(caFile), { recursive: true })
