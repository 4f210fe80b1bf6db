import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const memory = JSON.stringify(join(import.meta.dirname, 'memory.ts'))

/** What a tick costs before full collections and after them, in nanoseconds: the least of many tries. */
const program = `
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { limitHeap } from ${memory}
limitHeap()
const noop = () => {}
async function least() {
  let best = Infinity
  for (let times = 0; times < 100; times += 1) {
    const start = process.hrtime.bigint()
    for (let count = 0; count < 1000; count += 1) process.nextTick(noop)
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1000)
    await turn()
  }
  return best
}
const before = await least()
for (let round = 0; round < 3; round += 1) {
  for (let times = 0; times < 5; times += 1) {
    gc()
    await turn()
  }
  // Without a tick in between, for what V8 forgets is what no full collection has found alive.
  await sleep(50)
  gc()
}
console.log(JSON.stringify({ before, after: await least() }))
`

it('ticks cost no more after full collections than before them', () => {
  const args = ['--expose-gc', '--input-type=module', '--eval', program]
  const { before, after } = JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8' }),
  ) as Record<'before' | 'after', number>
  expect(after).toBeLessThan(before * 4)
})
