import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

interface Report {
  readonly recorded: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly lost?: number
}

export interface Recorder {
  readonly reports: Report[]
  /** Kills it as a crash does. @returns how many downloads must have been counted, and how many may have been */
  readonly kill: () => Promise<{ least: number; most: number }>
  /** Stops it gracefully. @returns its last output */
  readonly stop: () => Promise<Report>
}

const script = fileURLToPath(new URL('./recorder.fixture.ts', import.meta.url))
/** At most 100 ms of events may be lost in a crash. A machine that is busy with other tests gets more. */
export const windowMs = 500

/** Starts test-recorder.ts; `shell` runs it as "$@". */
export function record(orders: object, shell = 'exec "$@"'): Recorder {
  const args = ['-c', shell, 'sh', process.execPath, script, JSON.stringify(orders)]
  const child = spawn('/bin/sh', args, { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const reports: Report[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('{"recorded"')) reports.push(JSON.parse(line))
  })
  const closed = once(child, 'close')
  return {
    reports,
    async kill() {
      child.kill('SIGKILL')
      await closed
      // A machine that paused the process before it was killed gave it no time to write.
      const lastAt = reports.at(-1)?.at ?? 0
      const journaled = reports.filter(({ at }) => at < lastAt - windowMs)
      return {
        least: journaled.at(-1)?.recorded ?? 0,
        // A burst may be recorded but not reported yet.
        most: (reports.at(-1)?.recorded ?? 0) + 10,
      }
    },
    async stop() {
      child.stdin.write('stop\n')
      await closed
      return reports.at(-1) ?? { recorded: 0, at: 0 }
    },
  }
}
