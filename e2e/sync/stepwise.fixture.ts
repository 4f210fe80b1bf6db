import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultLimits } from '../../pkg/archives/archive/archive.ts'
import { openSpool } from '../../pkg/archives/spool/spool.ts'
import { type ArchiveStore, openArchiveStore } from '../../pkg/archives/storage/storage.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import type { ModuleUpstream, ProviderUpstream, Sources } from '../../pkg/fill/sources/sources.ts'
import { startSync } from '../../pkg/fill/sync/sync.ts'
import { TestUpstream } from '../../pkg/fill/sync/upstream.fixture.ts'
import { folderObjects, type Objects } from '../../pkg/records/store/store.ts'

/*
 * A process that fills the registry of a folder once, and dies right after a step: `node stepwise.fixture.ts DIR [STEP COUNT]`
 * kills itself after STEP was done for the COUNTth time. It records what it stores in DIR/stored.log.
 */

const [dir = '', deadly = '', count = '1'] = process.argv.slice(2)
let left = Number(count)

/** Nothing runs after the step: not a line of this process, and no handler. */
function done(step: string): void {
  if (step !== deadly) return
  left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
}

function stepwise<A extends unknown[], R>(
  step: string,
  work: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  return async (...args) => {
    const result = await work(...args)
    done(step)
    return result
  }
}

const withObjects = (objects: Objects): Objects => ({
  ...objects,
  apply: stepwise('applied', objects.apply.bind(objects)),
  patch: stepwise('patched', objects.patch.bind(objects)),
  writeStatus: stepwise('status written', objects.writeStatus.bind(objects)),
  writeReadme: stepwise('readme written', objects.writeReadme.bind(objects)),
  delete: stepwise('deleted', objects.delete.bind(objects)),
})

const withModule = (source: ModuleUpstream): ModuleUpstream => ({
  ...source,
  list: stepwise('listed', source.list.bind(source)),
  resolve: stepwise('resolved', source.resolve.bind(source)),
  fetch: stepwise('downloaded', source.fetch.bind(source)),
})

const withProvider = (upstream: ProviderUpstream): ProviderUpstream => ({
  ...upstream,
  list: stepwise('listed', upstream.list.bind(upstream)),
  release: stepwise('resolved', upstream.release.bind(upstream)),
  fetch: stepwise('downloaded', upstream.fetch.bind(upstream)),
})

const withSources = (sources: Sources): Sources => ({
  module: (origin, namespace) => withModule(sources.module(origin, namespace)),
  provider: (origin, namespace) => withProvider(sources.provider(origin, namespace)),
})

const withArchives = (archives: ArchiveStore): ArchiveStore => ({
  for(storage, configName) {
    const place = archives.for(storage, configName)
    const { driver } = place
    const put = async (...args: Parameters<typeof driver.put>) => {
      done('checked')
      const outcome = await driver.put(...args)
      appendFileSync(join(dir, 'stored.log'), `${outcome} ${args[0]}\n`)
      done('stored')
      return outcome
    }
    const verify = stepwise('verified', driver.verify.bind(driver))
    const remove = stepwise('removed', driver.remove.bind(driver))
    return { ...place, driver: { ...driver, put, verify, remove } }
  },
})

const log = createLogger('silent')
const spool = await openSpool({ dir: join(dir, 'spool'), sizeBytes: 2 ** 30 })
const upstream = new TestUpstream(spool)
upstream.repository('https://git.test/vpc.git', { 'v1.0.0': 'first', 'v1.1.0': 'second' })
upstream.provider('acme/dns', {
  '2.0.0': { platforms: ['linux/amd64', 'darwin/arm64'], signer: 'A'.repeat(40) },
})
const objects = await folderObjects({
  dir: join(dir, 'manifests'),
  apiGroup: 'depot.internal',
  watch: false,
  restMs: 200,
  log,
})
const sync = await startSync({
  limits: defaultLimits,
  objects: withObjects(objects),
  sources: withSources(upstream),
  archives: withArchives(openArchiveStore({ filesystemMountPath: join(dir, 'archives') })),
  spool,
  apiGroup: 'depot.internal',
  log,
  metrics: createMetrics({ version: 'test' }),
  timings: { removalGraceMs: 0 },
})
await sync.idle()
await objects.settled()
await sync.idle()
await sync.stop()
await objects.close()
await spool.close()
