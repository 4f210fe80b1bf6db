import { messageOf } from '../errors/errors.ts'
import { Loop } from '../pacing/pacing.ts'
import type { Logger } from '../telemetry/telemetry.ts'
import { readTextFile } from './text-file.ts'

/** How long a file has to stay as it is before its content counts. */
const restMs = 1000

/** The content of a file, now and after each change. */
export interface FollowedFile<T> {
  readonly current: T
  /** @returns removes the listener */
  onChange(listener: () => void): () => void
  /** Follows the file no longer. */
  close(): Promise<void>
}

/**
 * Reads a file, and follows its changes. One that cannot be read keeps what it said before.
 *
 * @throws Error if the file cannot be read at the start
 */
export async function followFile<T>({
  path,
  parse,
  name,
  log,
  valid,
  lookMs = 5000,
  follow = true,
}: {
  readonly path: string
  /** @throws Error with file and line */
  readonly parse: (text: string, path: string) => T
  /** Names its content in the log. */
  readonly name: string
  readonly log: Logger
  /** Makes the gauge that says whether the file can be read, once it was read. */
  readonly valid: () => { set(value: 0 | 1): void }
  /** How often to look for a change: the kubelet replaces files of ConfigMaps by links, which not every watch sees. */
  readonly lookMs?: number
  /** Whether to follow changes. */
  readonly follow?: boolean
}): Promise<FollowedFile<T>> {
  let text = await readTextFile(path)
  let current = parse(text, path)
  const gauge = valid()
  gauge.set(1)
  const listeners = new Set<() => void>()
  let lastProblem: string | undefined
  /** The content of the last look. */
  let rested = text
  const looking = new Loop(async () => {
    try {
      const now = await readTextFile(path)
      // One that is half written may be valid, and say less.
      if (now !== text && now !== rested) {
        rested = now
        return Math.min(lookMs, restMs)
      }
      const parsed = parse(now, path)
      const isOther = now !== text
      if (isOther || lastProblem !== undefined) log.info({ path }, `${name} read`)
      ;[text, lastProblem] = [now, undefined]
      gauge.set(1)
      if (isOther) {
        current = parsed
        for (const listener of listeners) listener()
      }
    } catch (error) {
      const problem = messageOf(error)
      if (problem !== lastProblem) {
        log.error({ problem }, `${name} cannot be read: its last valid state applies`)
      }
      lastProblem = problem
      gauge.set(0)
    }
    return lookMs
  })
  if (follow) looking.schedule(lookMs)
  return {
    get current() {
      return current
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => looking.close(),
  }
}
