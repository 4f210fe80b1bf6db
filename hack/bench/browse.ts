import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { nameOf, namespaceOf } from './browse-registry.ts'
import type { BrowseServer } from './browse-server.ts'
import { record, startBare, startLoad } from './processes.ts'
import { measure } from './rounds.ts'

/*
 * The browse API beside a bare server of node:http that gives the same answers, over registries of three sizes; and what
 * a change, a view and the memory of it all cost. `node hack/bench/browse.ts --quick` takes two minutes.
 */

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    versions: { type: 'string', multiple: true, default: ['1000', '20000', '200000'] },
  },
})
const settings = values.quick ? { turns: 3, turnMs: 200 } : { turns: 9, turnMs: 400 }

const resource = `${namespaceOf(2)}/module/${nameOf(2)}`
const filtered = 'kind=module&synced=true&severity=HIGH&sort_by=severity&sort_dir=desc'
const cases = [
  { name: 'default page', path: '/resources' },
  { name: 'filtered page', path: `/resources?${filtered}` },
  { name: 'searched page', path: '/resources?q=cluster-q' },
  { name: 'namespaces', path: '/namespaces' },
  { name: 'detail', path: `/resources/${resource}` },
  { name: 'versions', path: `/resources/${resource}/versions` },
  { name: 'scan findings', path: `/resources/${resource}/scan-findings` },
  { name: 'depots', path: '/depots' },
  { name: 'graph', path: '/depots/graph' },
  { name: 'stats', path: '/stats' },
]

const children: ChildProcess[] = []

async function startBrowse(versions: string): Promise<BrowseServer> {
  const child = fork(join(import.meta.dirname, 'browse-server.ts'), [`--versions=${versions}`], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--expose-gc', '--max-old-space-size=8192'],
  })
  children.push(child)
  const [message] = (await once(child, 'message')) as [BrowseServer]
  return message
}

const bare = await startBare()
const load = await startLoad()
try {
  console.log(
    '\nratio to bare node:http with the same bytes; in brackets where something changes before each request',
  )
  console.log('case             Versions  conns   ratio  (changing)  p50 ms  p99 ms')
  for (const versions of values.versions) {
    const server = await startBrowse(versions)
    for (const { name, path } of cases) {
      const target = `/depot/ui/v1${path}`
      await bare.teach(await record(server.port, target))
      for (const connections of [1, 64]) {
        const ports = [bare.port, server.port, server.changingPort]
        const against = (durationMs: number) =>
          ports.map((port) => () => load.run({ port, path: target, connections, durationMs }))
        await measure(against(settings.turnMs), 1)
        const [, still, changing] = await measure(against(settings.turnMs), settings.turns)
        const cells = [
          name.padEnd(15),
          versions.padStart(9),
          String(connections).padStart(6),
          still?.ratio.toFixed(2).padStart(7),
          `(${changing?.ratio.toFixed(2)})`.padStart(11),
          still?.p50Ms.toFixed(2).padStart(7),
          still?.p99Ms.toFixed(2).padStart(7),
        ]
        console.log(cells.join(' '))
      }
    }
    const { rowsMb, modelMb, settleSeconds, changeP50Ms, changeP99Ms, namespaceMs, bindingMs } =
      server
    console.log(
      `${versions} Versions: rows ${rowsMb.toFixed(0)} MB, views and cards ${modelMb.toFixed(0)} MB, first settling ${settleSeconds.toFixed(2)} s; ` +
        `a change p50 ${changeP50Ms.toFixed(3)} ms, p99 ${changeP99Ms.toFixed(3)} ms; a namespace label ${namespaceMs.toFixed(2)} ms; opening a view ${bindingMs.toFixed(2)} ms\n`,
    )
    children.pop()?.kill()
  }
} finally {
  bare.stop()
  load.stop()
  for (const child of children) child.kill()
}
