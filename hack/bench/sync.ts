import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { zipOf } from '../../pkg/archive/packed.fixture.ts'
import { Registry } from '../testbed/registry/registry.ts'
import { startUpstreams } from '../testbed/upstream/upstreams.ts'
import { atMost, goalTable } from './goals.ts'

/*
 * What filling a registry costs, by `depot sync` over stand-ins of the upstreams: a poll of modules that have not changed, and
 * the memory of large providers in flight. `node hack/bench/sync.ts --modules 100 --provider-mib 100`
 */

const { values } = parseArgs({
  options: {
    modules: { type: 'string', default: '1000' },
    versions: { type: 'string', default: '20' },
    'provider-mib': { type: 'string', default: '200' },
  },
})
const modules = Number(values.modules)
const versions = Number(values.versions)
const providerMib = Number(values['provider-mib'])
const platforms = ['linux_amd64', 'linux_arm64', 'darwin_arm64', 'windows_amd64']

interface Usage {
  readonly cpuSeconds: number
  readonly maxRssMib: number
}

const upstreams = await startUpstreams()

/** Runs `depot sync` to its end. */
async function run({ manifests, archives, dir }: Registry): Promise<Usage & { requests: number }> {
  upstreams.github.forget()
  const usage = join(dir, 'usage.json')
  const flags = ['--manifests', manifests, '--archives', archives, '--log-level=error']
  const program = ['--import', join(import.meta.dirname, 'usage.ts'), 'cmd/sync/main.ts']
  const child = spawn(
    process.execPath,
    program.concat(flags, ['--spool-dir', join(dir, 'spool')], upstreams.flags),
    { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEPOT_USAGE: usage } },
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
  const zips = await Promise.all(
    platforms.map(async (platform) => {
      const content = randomBytes(providerMib * 1024 * 1024)
      return [platform, await zipOf([{ path: 'terraform-provider-large_v1', content }])] as const
    }),
  )
  upstreams.registry.addProvider({
    address: 'acme/large',
    version: '1.0.0',
    platforms: Object.fromEntries(zips),
    key: upstreams.key,
  })
  const registry = new Registry()
  registry.write('main.yaml', [depot({ providerConfigs: [{ name: 'large', namespace: 'acme' }] })])
  const { maxRssMib, cpuSeconds } = await run(registry)
  registry.remove()
  const what = `MiB of memory with four archives of ${providerMib} MiB in flight`
  return [atMost(what, 300, maxRssMib, `${cpuSeconds.toFixed(1)} s of CPU`)]
}

process.stdout.write(`${goalTable([...(await largeProviders()), ...(await unchangedModules())])}\n`)
await upstreams[Symbol.asyncDispose]()
