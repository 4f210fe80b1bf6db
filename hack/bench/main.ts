import { cpus, totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { residentMb } from './cpu.ts'
import { type Cost, compareCost } from './cpu-rounds.ts'
import { createFixture } from './folder.ts'
import { atLeast, atMost, type Goal, goalTable } from './goals.ts'
import { startKnownCallers } from './known-callers.ts'
import { record, startBare, startCatalogServer, startDepot, type Target } from './processes.ts'
import { jsonCases, uncachedCases } from './registry.ts'

/*
 * `make bench`: Depot beside a bare server of node:http that gives the same answers, and a table of what was wanted and what
 * was measured at the end. The CPU time of a request counts, because it hardly depends on what else a machine does.
 */

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    versions: { type: 'string', default: '200000' },
  },
})
const rounds = values.quick ? 1 : 7
const smallVersions = 1050
const largeVersions = Number(values.versions)
const settleMs = 3000
const goals: Goal[] = []
const running: { stop(): void }[] = []
const started = async <T extends { stop(): void }>(starting: Promise<T>): Promise<T> => {
  const target = await starting
  running.push(target)
  return target
}

const summary = (cost: Cost): string =>
  `${cost.bareCpuMicroseconds.toFixed(1)} us bare, ${cost.cpuMicroseconds.toFixed(1)} us Depot; throughput ${cost.throughputRatio.toFixed(2)}; p99 ${cost.p99Ms.toFixed(1)} ms`

function report(goal: Goal): void {
  goals.push(goal)
  console.log(`${goal.what}: ${goal.figure.toFixed(2)} (goal ${goal.goal}) ${goal.also}`)
}

try {
  const fixture = await createFixture({ versions: smallVersions, distinctFindings: 4000 })
  running.push({ stop: fixture.remove })
  const bare = await started(startBare())
  const small = await started(startDepot(fixture))
  const large = await started(
    startCatalogServer({
      versions: largeVersions,
      distinctFindings: 4000,
      signingKeyPath: fixture.signingKeyPath,
    }),
  )
  await sleep(settleMs)
  const { loadSeconds, leastSeconds, jsonMegabytes } = large.loaded
  const load = `${loadSeconds.toFixed(1)} s for ${jsonMegabytes.toFixed(0)} MB of JSON`
  report(atMost('load, x split and JSON.parse', 2, loadSeconds / leastSeconds, load))
  const size = `${largeVersions} Versions, 20 findings each`
  report(atMost('RSS after loading, MB', 260, residentMb(large.pid).now, size))

  const measured = (own: Target, path: string, unique = false): Promise<Cost> =>
    compareCost({ bare, own }, { path, connections: 32, unique }, rounds)
  for (const { name, path } of jsonCases) {
    await bare.teach(await record(small.port, path))
    const cost = await measured(small, path)
    report(atLeast(name, 1, cost.cpuRatio, summary(cost)))
    const other = await measured(large, path)
    const change = other.cpuMicroseconds / cost.cpuMicroseconds
    report(atMost(`${name}: CPU at ${largeVersions} Versions`, 1.1, change, summary(other)))
  }
  for (const { name, path } of uncachedCases) {
    await bare.teach(await record(small.port, path))
    const cost = await measured(small, path, true)
    report(atLeast(name, 0.6, cost.cpuRatio, summary(cost)))
  }
  for (const { name, file, downloadPath } of fixture.archiveCases) {
    const path = await archivePath(small, downloadPath)
    const answer = await record(small.port, path)
    const isLarge = name.includes('MB')
    await bare.teach(isLarge ? { path, headers: answer.headers, file } : answer)
    const connections = isLarge ? 4 : 32
    const cost = await compareCost({ bare, own: small }, { path, connections }, rounds)
    report(atLeast(name, isLarge ? 1.5 : 0.9, cost.cpuRatio, summary(cost)))
  }
  const { now, highest } = residentMb(small.pid)
  report(atMost('RSS under load, MB', 130, now, `highest ${highest.toFixed(0)} MB`))

  const callers = await started(startKnownCallers(1000, 1000))
  const path = '/depot/modules/v1/bench/small/aws/versions'
  const { authorizations } = callers
  for (const authorization of authorizations) await record(callers.port, path, authorization)
  await bare.teach(await record(callers.port, path, authorizations[0]))
  const known = { path, connections: 32, authorizations }
  const cost = await compareCost({ bare, own: callers }, known, rounds)
  report(atLeast('module versions, 1,000 known tokens', 0.9, cost.cpuRatio, summary(cost)))

  const [processor] = cpus()
  console.log(
    `\n${processor?.model ?? 'unknown'}, ${cpus().length} processors, ${(totalmem() / 1e9).toFixed(0)} GB, Node ${process.versions.node}; medians of ${rounds} rounds\n`,
  )
  console.log(goalTable(goals))
} finally {
  for (const target of running.toReversed()) target.stop()
}

/** The archive endpoint of a module, as a CLI is told it. */
async function archivePath({ port }: Target, downloadPath: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${downloadPath}`)
  const { pathname, search } = new URL(response.headers.get('x-terraform-get') ?? '')
  return pathname + search
}
