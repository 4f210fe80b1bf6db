import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ArchiveFormat, normaliseModule } from '../../pkg/archives/archive/archive.ts'
import { tarGzOf, zipOf } from '../../pkg/archives/archive/packed.fixture.ts'
import { cpuTimeMs } from '../testbed/cpu-time.ts'
import { atMost, goalTable } from './goals.ts'

/*
 * Measures the cost of a module with 10,000 small files, from each format into each: CPU time, and the longest turn of the event loop, which
 * is how long a probe of the controller may have to wait.
 *
 * node hack/bench/module-archives.ts
 */

const directory = mkdtempSync(join(tmpdir(), 'depot-modules-'))
const files = Array.from({ length: 9_999 }, (_, index) => ({
  path: `module-1.0.0/modules/${index % 100}/file-${index}.tf`,
  content: `resource "null_resource" "r${index}" {\n  triggers = { a = "${randomBytes(150).toString('hex')}" }\n}\n`,
}))
files.push({ path: 'module-1.0.0/main.tf', content: '# main\n' })
const packed = { zip: await zipOf(files), 'tar.gz': await tarGzOf(files) }

/** The longest turn of the event loop until it is stopped. */
function watchTurns(): { stop(): number } {
  let longestMs = 0
  let beforeMs = cpuTimeMs()
  let isStopped = false
  const look = (): void => {
    const nowMs = cpuTimeMs()
    longestMs = Math.max(longestMs, nowMs - beforeMs)
    beforeMs = nowMs
    if (!isStopped) setImmediate(look)
  }
  setImmediate(look)
  return {
    stop() {
      isStopped = true
      look()
      return longestMs
    },
  }
}

async function measure(from: ArchiveFormat, format: ArchiveFormat, round: number) {
  const file = join(directory, `${from}-${format}-${round}`)
  writeFileSync(file, packed[from])
  const before = process.cpuUsage()
  const turns = watchTurns()
  await normaliseModule({ file, into: `${file}.out`, format })
  const longestMs = turns.stop()
  const { user, system } = process.cpuUsage(before)
  return { seconds: (user + system) / 1e6, longestMs }
}

const formats: readonly ArchiveFormat[] = ['zip', 'tar.gz']
const goals = []
for (const from of formats) {
  for (const format of formats) {
    const seen = []
    for (let round = 0; round < 3; round += 1) seen.push(await measure(from, format, round))
    const longestMs = Math.max(...seen.map((each) => each.longestMs))
    const [, seconds = 0] = seen.map((each) => each.seconds).toSorted((a, b) => a - b)
    const what = `10,000 files from ${from} to ${format}`
    goals.push(atMost(`${what}, longest turn, ms`, 50, longestMs, `${seconds.toFixed(2)} s of CPU`))
  }
}
process.stdout.write(`${goalTable(goals)}\n`)
rmSync(directory, { recursive: true })
