import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { History, sources } from './policy-histories.fixture.ts'
import { step, Witness } from './policy-witness.fixture.ts'

/* Promises of a policy, after random histories of an upstream, of a policy, of a process and of its records. */

const count = Number(process.env['DEPOT_HISTORIES'] ?? 12)
const seed = Number(process.env['DEPOT_SEED'] ?? Date.now() % 1_000_000)

it(`keeps its promises in ${count} random histories with the seed ${seed}`, async () => {
  const history = fc.record({
    source: fc.constantFrom(...sources),
    steps: fc.array(step, { minLength: 5, maxLength: 40 }),
  })
  const property = fc.asyncProperty(history, async ({ source, steps }) => {
    const open = await History.open(source)
    try {
      const witness = new Witness(open)
      await open.start()
      for (const one of steps) await witness.take(one)
      await witness.settle()
      expect(witness.broken).toEqual([])
    } finally {
      await open.close()
    }
  })
  const endOnFailure = process.env['DEPOT_SHRINK'] !== '1'
  expect(await fc.check(property, { numRuns: count, seed, endOnFailure })).toMatchObject({
    counterexample: null,
    errorInstance: null,
  })
}, 3_600_000)
