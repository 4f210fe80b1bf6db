import { writeFileSync } from 'node:fs'

/*
 * Loaded into a server before it starts. From one SIGUSR2 to the next it takes the CPU time of every turn of the event
 * loop, which is how long a request that arrives meanwhile has to wait, and writes down what it saw.
 */

const file = process.env['DEPOT_BENCH_TURNS'] ?? '/dev/null'
/** Looking itself takes less; such turns are nobody's to wait for. */
const idleMicroseconds = 20
let turnsMs: number[] | undefined
let beforeMicroseconds = 0

const cpuMicroseconds = (): number => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

function look(): void {
  if (turnsMs === undefined) return
  const now = cpuMicroseconds()
  const microseconds = now - beforeMicroseconds
  if (microseconds > idleMicroseconds) turnsMs.push(microseconds / 1000)
  beforeMicroseconds = now
  setImmediate(look)
}

process.on('SIGUSR2', () => {
  if (turnsMs === undefined) {
    turnsMs = []
    beforeMicroseconds = cpuMicroseconds()
    setImmediate(look)
    return
  }
  writeFileSync(file, JSON.stringify(turnsMs))
  turnsMs = undefined
})
