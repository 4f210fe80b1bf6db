import { parseArgs } from 'node:util'
import { parseResource, type Resource } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { createArchives } from '../../pkg/archives/storage/storage.ts'
import { serve } from '../../pkg/base/serving/serving.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { GroupBindings } from '../../pkg/registry/access/access.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { createApp } from '../../pkg/registry/server/server.ts'
import {
  type BrowseObject,
  browseObjects,
  nameOf,
  namespaceOf,
  versionObject,
} from './browse-registry.ts'
import { median } from './rounds.ts'

/*
 * The browse API over a registry of any size, with every view open. Two ports serve it: on the second, something changes
 * before each request, so that no answer is ready.
 */

const { values } = parseArgs({ options: { versions: { type: 'string', default: '20000' } } })
const versions = Number(values.versions)
const resources = versions / 10

/** Measurements of a process about itself. */
export interface BrowseServer {
  readonly port: number
  readonly changingPort: number
  readonly rowsMb: number
  /** Views, orders, sets and rendered cards, on top of the rows. */
  readonly modelMb: number
  readonly settleSeconds: number
  readonly changeP50Ms: number
  readonly changeP99Ms: number
  readonly namespaceMs: number
  readonly bindingMs: number
}

function parse(object: BrowseObject): Resource {
  const result = parseResource(object.kind, object)
  if (!result.ok) throw new Error(JSON.stringify(result.issues))
  return result.resource
}

function usedMegabytes(): number {
  ;(globalThis as { gc?: () => void }).gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1e6
}

function timed(action: () => void): number {
  const start = performance.now()
  action()
  return performance.now() - start
}

const catalog = new Catalog()
const { model } = catalog
const bindings = new GroupBindings({
  namespace: 'depot-system',
  log: createLogger('silent'),
  metrics: createMetrics({ version: 'bench' }),
})
const before = usedMegabytes()
for (const object of browseObjects(versions)) {
  const resource = parse(JSON.parse(JSON.stringify(object)) as BrowseObject)
  if (resource.kind === 'GroupBinding') bindings.apply({ type: 'upsert', resource })
  catalog.apply({ type: 'upsert', resource })
}
const rowsMb = usedMegabytes() - before

let slices = 0
const settleMs = timed(() => {
  for (; !model.settled; slices += 1) void model.revision
})
const views = [model.views.all, model.views.public]
const bindingMs = median(
  bindings.ordered.map((binding) => timed(() => views.push(model.viewOf(binding)))),
)
for (const view of views) model.stats(view)

let revision = 1
const changes = Array.from({ length: 2000 }, (_, index) =>
  parse(versionObject((index * 37) % resources, index % 10, ++revision)),
)
const changeMs = changes
  .map((resource) =>
    timed(() => {
      catalog.apply({ type: 'upsert', resource })
      void model.revision
    }),
  )
  .toSorted((a, b) => a - b)
const namespaceMs = median(
  Array.from({ length: 20 }, (_, index) => {
    const labels = index % 2 === 0 ? {} : { 'depot.internal/public': 'true' }
    const resource = parse({ kind: 'Namespace', metadata: { name: 'team-0', labels } })
    return timed(() => catalog.apply({ type: 'upsert', resource }))
  }),
)

const log = createLogger('info')
const metrics = createMetrics({ version: 'bench' })
const archives = createArchives({ filesystemMountPath: '/', log, metrics })
const { routes } = createApp({ catalog, archives, log })

/** The whole path of a request, with something done before each. */
async function serveChanging(beforeEach: () => void): Promise<number> {
  const anyPort = { host: '127.0.0.1', port: 0 }
  const { url } = await serve({
    fetch(request, env) {
      beforeEach()
      return routes.fetch(request, env)
    },
    listen: anyPort,
    adminListen: anyPort,
    log,
    metrics: createMetrics({ version: 'bench' }),
    waitingFor: () => [],
  })
  return Number(new URL(url).port)
}

let requests = 0
const download = (): void => {
  requests += 1
  const resource = (requests * 41) % resources
  const kind = resource % 2 === 0 ? 'Module' : 'Provider'
  const [namespace, name] = [namespaceOf(resource), nameOf(resource)]
  const lastAt = 1_767_225_600_000
  const count = Math.ceil(requests / resources)
  catalog.setDownloads([{ kind, namespace, name, version: '1.0.0', count, lastAt }])
}

for (let page = 0; page * 100 < resources; page += 1) {
  const { entries } = model.page(
    model.views.all,
    {},
    { sortBy: 'name', descending: false, offset: page * 100, limit: 100 },
  )
  for (const entry of entries)
    entry.memo('record', () => JSON.stringify(entry.summary.totals).repeat(8))
}
const modelMb = usedMegabytes() - before - rowsMb
const measured: BrowseServer = {
  port: await serveChanging(() => {}),
  changingPort: await serveChanging(download),
  rowsMb,
  modelMb,
  settleSeconds: settleMs / 1000,
  changeP50Ms: changeMs[changeMs.length >> 1] ?? Number.NaN,
  changeP99Ms: changeMs[Math.floor(changeMs.length * 0.99)] ?? Number.NaN,
  namespaceMs,
  bindingMs,
}
process.send?.(measured)
process.on('disconnect', () => process.exit())
