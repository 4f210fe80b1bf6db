import { parseArgs } from 'node:util'
import { compareCost } from './cpu-rounds.ts'
import { createFixture } from './folder.ts'
import { record, startBare, startDepot } from './processes.ts'
import { jsonCases, uncachedCases } from './registry.ts'

/*
 * What an answer costs beside a bare server of node:http that gives the same bytes. For a quick look while changing
 * something: `node hack/bench/requests.ts --only package --rounds 3`.
 */

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '7' },
  },
})
const fixture = await createFixture({ versions: 1050, distinctFindings: 4000 })
const bare = await startBare()
const own = await startDepot(fixture)
try {
  const cases = [
    ...jsonCases.map((it) => ({ ...it, unique: false })),
    ...uncachedCases.map((it) => ({ ...it, unique: true })),
  ]
  for (const { name, path, unique } of cases) {
    if (!name.includes(values.only)) continue
    await bare.teach(await record(own.port, path))
    const cost = await compareCost(
      { bare, own },
      { path, connections: 32, unique },
      Number(values.rounds),
    )
    console.log(
      `${name.padEnd(28)} CPU ratio ${cost.cpuRatio.toFixed(2)} (${cost.bareCpuMicroseconds.toFixed(1)} / ${cost.cpuMicroseconds.toFixed(1)} us), throughput ${cost.throughputRatio.toFixed(2)}`,
    )
  }
} finally {
  own.stop()
  bare.stop()
  fixture.remove()
}
