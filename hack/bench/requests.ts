import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { benchCases } from './cases.ts'
import { residentMb } from './cpu.ts'
import { type Cost, compareCost, summaryOf } from './cpu-rounds.ts'
import { createFixture } from './folder.ts'
import { knownCallersCase, knownCallersCost } from './known-callers.ts'
import { startBare, startDepot } from './processes.ts'
import { requireWrk } from './wrk.ts'

/*
 * Measures the cost of an answer, and of a bare server of node:http with the same bytes. For a quick look while changing
 * something: `node hack/bench/requests.ts --only package --rounds 3`.
 */

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '14' },
  },
})
const rounds = Number(values.rounds)
const print = (name: string, cost: Cost): void =>
  console.log(`${name.padEnd(36)} CPU ratio ${cost.cpuRatio.toFixed(2)}, ${summaryOf(cost)}`)

await requireWrk()
/** Younger files are hashed every time, because a change might not show. */
const settledMs = 3500
const fixture = await createFixture({ versions: 1050, distinctFindings: 4000 })
const bare = await startBare()
const own = await startDepot(fixture)
try {
  await sleep(settledMs)
  for (const { name, answer, ...load } of await benchCases(own, fixture)) {
    if (!name.includes(values.only)) continue
    await bare.teach(answer)
    print(name, await compareCost({ bare, own }, load, rounds))
  }
  if (knownCallersCase.includes(values.only)) {
    print(knownCallersCase, await knownCallersCost(bare, rounds))
  }
  const { now, highest } = residentMb(own.pid)
  console.log(`RSS of Depot ${now.toFixed(0)} MB, highest ${highest.toFixed(0)} MB`)
} finally {
  own.stop()
  bare.stop()
  fixture.remove()
}
