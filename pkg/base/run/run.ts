/** Runs a process: reads options, starts and stops the parts that a command names in order, and sets the exit status. */

import { constants } from 'node:os'
import { endsWithin } from '../pacing/pacing.ts'
import type { Logger } from '../telemetry/telemetry.ts'
import type { Runnable } from './runnable.ts'

export { type CommandRun, runCommand } from './command.ts'
export { folderProblem, madeFolderProblem, temporaryFolder } from './folder.ts'
export { type FollowedFile, followFile } from './followed-file.ts'
export { httpPart } from './http-part.ts'
export { opened } from './opened.ts'
export type { Runnable } from './runnable.ts'
export { type StatusLine, statusLine, type TextOutput } from './status-line.ts'
export { stdout } from './stdout.ts'
export { readTextFile } from './text-file.ts'

const signals = ['SIGTERM', 'SIGINT'] as const

export interface RunOptions {
  /** Groups start in order, the parts of a group at the same time; they stop in reverse order. */
  readonly groups: readonly (readonly Runnable[])[]
  readonly log: Logger
  /** The grace period of each part when a signal stops the process, in milliseconds. */
  readonly graceMs: number
  /** Stops everything as the first signal does. */
  readonly until?: AbortSignal
}

/**
 * Runs until SIGTERM or SIGINT. The first signal stops everything in order, the second ends the process at once with 128
 * and the number of the signal. If a part fails to start, those that have started are stopped without grace.
 *
 * @throws the error of a part that could not start
 */
export async function run({ groups, log, graceMs, until }: RunOptions): Promise<void> {
  const abort = new AbortController()
  const stopped = untilSignal(log, abort, until)
  const started: Runnable[][] = []
  const starting = startAll(groups, started, abort.signal)
  try {
    await Promise.race([starting, stopped])
    await stopped
  } catch (error) {
    abort.abort(error)
    await stopAll(started, 0, log)
    throw error
  }
  await stopAll(started, graceMs, log)
  log.info('stopped')
}

async function startAll(
  groups: RunOptions['groups'],
  started: Runnable[][],
  signal: AbortSignal,
): Promise<void> {
  for (const group of groups) {
    if (signal.aborted) return
    const up: Runnable[] = []
    started.unshift(up)
    await Promise.all(
      group.map(async (part) => {
        await part.start?.(signal)
        up.push(part)
      }),
    )
  }
}

/** Stops every part, even if one of them fails. */
async function stopAll(started: Runnable[][], graceMs: number, log: Logger): Promise<void> {
  for (const group of started) {
    await Promise.all(
      group.map(async (part) => {
        try {
          await part.stop?.(graceMs)
        } catch (err) {
          log.error({ err, part: part.name }, 'a part could not be stopped')
        }
      }),
    )
  }
}

function untilSignal(
  log: Logger,
  abort: AbortController,
  until: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      abort.abort()
      resolve()
    }
    for (const signal of signals) {
      process.once(signal, () => {
        log.info({ signal }, 'stopping')
        process.once(signal, () => process.exit(128 + constants.signals[signal]))
        stop()
      })
    }
    until?.addEventListener('abort', stop, { once: true })
    if (until?.aborted === true) stop()
  })
}

/** Aborts work at the first signal, so that it leaves nothing behind. A second signal ends the process. */
export function stopOnSignals(
  work: AbortController,
): Disposable & { /** Undefined without a signal. */ readonly status: () => number | undefined } {
  let status: number | undefined
  const stop = (signal: (typeof signals)[number]) => {
    status = 128 + constants.signals[signal]
    work.abort(new Error(`stopped by ${signal}`))
  }
  for (const signal of signals) process.once(signal, stop)
  return {
    status: () => status,
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, stop)
    },
  }
}

/** Waits for work that was told to end, up to the grace period. The exit of the process ends the rest. */
export async function endWithin(
  ending: Promise<void>,
  graceMs: number,
  log: Logger,
): Promise<void> {
  if (await endsWithin(ending, graceMs)) return
  log.warn({ graceMs }, 'work cut off at the end of the grace period')
}
