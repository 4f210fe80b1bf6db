import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createFixture } from './folder.ts'
import {
  memoryOf,
  record,
  startBare,
  startCatalogServer,
  startDepot,
  startLoad,
  type Target,
} from './processes.ts'
import { jsonCases } from './registry.ts'
import { type Figures, measure } from './rounds.ts'

/*
 * `make bench`: Depot beside a bare server of node:http that gives the same answers. The ratio is what counts, because
 * both share the machine's mood; 1 would be a Depot that costs nothing.
 */

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    versions: { type: 'string', default: '200000' },
  },
})
const settings = values.quick
  ? { turns: 4, turnMs: 250, warmUpMs: 400, distinctFindings: [4000] }
  : { turns: 12, turnMs: 400, warmUpMs: 1500, distinctFindings: [4000, 20_000] }
const smallVersions = 1050
const largeVersions = Number(values.versions)
const settleMs = 3000

interface Row extends Figures {
  readonly case: string
  readonly versions: number
  readonly bareRequestsPerSecond: number
  readonly rssMb: number
}

interface CatalogRow {
  readonly versions: number
  readonly findings: number
  readonly distinctFindings: number
  readonly jsonMb: number
  readonly loadSeconds: number
  readonly rssMb: number
  readonly heapUsedMb: number
}

const say = (line: string): void => {
  if (!values.json) console.log(line)
}
const running: { stop(): void }[] = []
const started = async <T extends { stop(): void }>(starting: Promise<T>): Promise<T> => {
  const target = await starting
  running.push(target)
  return target
}

async function measureCatalogs(signingKeyPath: string): Promise<[CatalogRow[], Target]> {
  const rows: CatalogRow[] = []
  let kept: Target | undefined
  for (const distinctFindings of settings.distinctFindings) {
    const server = await started(
      startCatalogServer({ versions: largeVersions, distinctFindings, signingKeyPath }),
    )
    await sleep(settleMs)
    const { rssMb, heapUsedMb } = await memoryOf(server.adminUrl ?? '')
    rows.push({
      versions: largeVersions,
      findings: largeVersions * 20,
      distinctFindings: server.loaded.distinctFindings,
      jsonMb: server.loaded.jsonMegabytes,
      loadSeconds: server.loaded.loadSeconds,
      rssMb,
      heapUsedMb,
    })
    if (kept === undefined) kept = server
    else server.stop()
  }
  return [rows, kept as Target]
}

try {
  const fixture = await createFixture({ versions: smallVersions, distinctFindings: 4000 })
  running.push({ stop: fixture.remove })
  const bare = await started(startBare())
  const load = await started(startLoad())
  const small = await started(startDepot(fixture))
  const [catalogRows, large] = await measureCatalogs(fixture.signingKeyPath)
  const rows: Row[] = []

  const compare = async (
    name: string,
    path: string,
    connections: number,
    depots: readonly { readonly versions: number; readonly target: Target }[],
  ): Promise<void> => {
    const targets = [bare, ...depots.map(({ target }) => target)]
    const against =
      (durationMs: number) =>
      ({ port }: Target) =>
      () =>
        load.run({ port, path, connections, durationMs })
    await measure(targets.map(against(settings.warmUpMs)), 1)
    const [bareFigures, ...figures] = await measure(
      targets.map(against(settings.turnMs)),
      settings.turns,
    )
    for (const [index, own] of figures.entries()) {
      const { versions, target } = depots[index] as (typeof depots)[number]
      rows.push({
        case: name,
        versions,
        bareRequestsPerSecond: bareFigures?.requestsPerSecond ?? Number.NaN,
        ...own,
        rssMb: (await memoryOf(target.adminUrl ?? '')).rssMb,
      })
    }
  }

  const both = [
    { versions: smallVersions, target: small },
    { versions: largeVersions, target: large },
  ]
  for (const { name, path } of jsonCases) {
    await bare.teach(await record(small.port, path))
    await compare(name, path, 32, both)
  }
  for (const { name, file, downloadPath } of fixture.archiveCases) {
    const path = await archivePath(small, downloadPath)
    const { headers } = await record(small.port, path)
    await bare.teach({ path, headers, file })
    await compare(name, path, name.includes('MB') ? 4 : 32, both.slice(0, 1))
  }

  if (values.json) console.log(JSON.stringify({ requests: rows, catalog: catalogRows }, null, 2))
  print(rows, catalogRows)
} finally {
  for (const target of running.toReversed()) target.stop()
}

/** The archive endpoint of a module, as a CLI is told it. */
async function archivePath({ port }: Target, downloadPath: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${downloadPath}`)
  const { pathname, search } = new URL(response.headers.get('x-terraform-get') ?? '')
  return pathname + search
}

function print(rows: readonly Row[], catalogRows: readonly CatalogRow[]): void {
  const [count, one, two] = [0, 1, 2].map(
    (digits) => (value: number) =>
      value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  ) as [(value: number) => string, (value: number) => string, (value: number) => string]
  say('\nRequests, one process each for load, Depot and the bare server (medians)\n')
  table([
    ['case', 'Versions', 'Depot/s', 'bare/s', 'ratio', 'p50 ms', 'p99 ms', 'RSS MB'],
    ...rows.map((row) => [
      row.case,
      count(row.versions),
      (row.requestsPerSecond < 1000 ? one : count)(row.requestsPerSecond),
      (row.requestsPerSecond < 1000 ? one : count)(row.bareRequestsPerSecond),
      two(row.ratio),
      two(row.p50Ms),
      two(row.p99Ms),
      count(row.rssMb),
    ]),
  ])
  say('\nCatalog load, object by object from JSON\n')
  table([
    ['Versions', 'findings', 'distinct', 'JSON MB', 'seconds', 'RSS MB', 'heap used MB'],
    ...catalogRows.map((row) => [
      count(row.versions),
      count(row.findings),
      count(row.distinctFindings),
      count(row.jsonMb),
      one(row.loadSeconds),
      count(row.rssMb),
      count(row.heapUsedMb),
    ]),
  ])
}

function table(lines: readonly (readonly string[])[]): void {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  )
  for (const line of lines) {
    const cells = line.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    )
    say(cells.join('  '))
  }
}
