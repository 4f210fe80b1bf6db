import { cpus, totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { benchCases } from './cases.ts'
import { residentMb } from './cpu.ts'
import { compareCost, summaryOf } from './cpu-rounds.ts'
import { createFixture } from './folder.ts'
import { atLeast, atMost, type Goal, goalTable } from './goals.ts'
import { knownCallersCase, knownCallersCost } from './known-callers.ts'
import { startBare, startDepot, startPod } from './processes.ts'
import { measureTurns } from './turns.ts'
import { requireWrk } from './wrk.ts'

/*
 * `make bench`: Depot beside a bare server of node:http that gives the same answers, and a table of what was wanted and what
 * was measured at the end. The CPU time of a request counts, because it hardly depends on what else a machine does.
 */

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '14' },
    versions: { type: 'string', default: '200000' },
  },
})
await requireWrk()
const rounds = Number(values.rounds)
const smallVersions = 1050
const largeVersions = Number(values.versions)
const settleMs = 3500
const goals: Goal[] = []
const running: { stop(): void }[] = []
const started = async <T extends { stop(): void }>(starting: Promise<T>): Promise<T> => {
  const target = await starting
  running.push(target)
  return target
}

function report(goal: Goal): void {
  goals.push(goal)
  console.log(`${goal.what}: ${goal.figure.toFixed(2)} (goal ${goal.goal}) ${goal.also}`)
}

try {
  const fixture = await createFixture({ versions: smallVersions, distinctFindings: 4000 })
  running.push({ stop: fixture.remove })
  const bare = await started(startBare())
  const small = await started(startDepot(fixture))
  const large = await started(startPod(largeVersions, fixture.signingKeyPath))
  await sleep(settleMs)
  const { loadSeconds, leastSeconds } = large.loaded
  const load = `${loadSeconds.toFixed(1)} s of CPU until it is ready`
  report(atMost('load, x a client that splits and parses', 2.2, loadSeconds / leastSeconds, load))

  for (const { name, leastRatio, isCached, answer, ...asked } of await benchCases(small, fixture)) {
    await bare.teach(answer)
    const cost = await compareCost({ bare, own: small }, asked, rounds)
    report(atLeast(name, leastRatio, cost.cpuRatio, summaryOf(cost)))
    if (!isCached) continue
    const other = await compareCost({ bare, own: large }, asked, rounds)
    // Each beside the bare server of its own moment: what it takes differs by half within minutes.
    const change = cost.cpuRatio / other.cpuRatio
    report(atMost(`${name}: CPU at ${largeVersions} Versions`, 1.1, change, summaryOf(other)))
  }
  const { now, highest } = residentMb(small.pid)
  report(atMost('RSS under load, MB', 160, now, `highest ${highest.toFixed(0)} MB`))
  const withFindings = residentMb(large.pid)
  const size = `${largeVersions} Versions with 20 findings; highest ${withFindings.highest.toFixed(0)} MB`
  report(atMost('RSS under load, many Versions, MB', 290, withFindings.now, size))
  for (const [backend, turns] of Object.entries(await measureTurns(3))) {
    const longest = `longest ${turns.longestMs.toFixed(1)} ms`
    report(atMost(`turn under 8 first downloads, ${backend}, ms`, 2, turns.medianMs, longest))
  }

  const cost = await knownCallersCost(bare, rounds)
  report(atLeast(knownCallersCase, 0.8, cost.cpuRatio, summaryOf(cost)))

  const [processor] = cpus()
  console.log(
    `\n${processor?.model ?? 'unknown'}, ${cpus().length} processors, ${(totalmem() / 1e9).toFixed(0)} GB, Node ${process.versions.node}; medians of ${rounds} rounds\n`,
  )
  console.log(goalTable(goals))
} finally {
  for (const target of running.toReversed()) target.stop()
}
