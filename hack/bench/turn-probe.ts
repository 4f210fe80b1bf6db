import { writeFileSync } from 'node:fs'
import { cpuTimeMs } from '../testbed/cpu-time.ts'

/*
 * Loaded into a server before it starts. From one SIGUSR2 to the next it takes the CPU time of every turn of the event
 * loop, which is how long a request that arrives meanwhile has to wait, and records what it saw.
 */

const file = process.env['DEPOT_BENCH_TURNS'] ?? '/dev/null'
/** Looking itself takes less; no request waits for such turns. */
const idleMs = 0.02
let turnsMs: number[] | undefined
let beforeMs = 0

function look(): void {
  if (turnsMs === undefined) return
  const nowMs = cpuTimeMs()
  if (nowMs - beforeMs > idleMs) turnsMs.push(nowMs - beforeMs)
  beforeMs = nowMs
  setImmediate(look)
}

process.on('SIGUSR2', () => {
  if (turnsMs === undefined) {
    turnsMs = []
    beforeMs = cpuTimeMs()
    setImmediate(look)
    return
  }
  writeFileSync(file, JSON.stringify(turnsMs))
  turnsMs = undefined
})
