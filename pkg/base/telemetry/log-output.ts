import { fstatSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isatty } from 'node:tty'
import type { DestinationStream } from 'pino'
import { characterBytes } from '../memory/memory.ts'
import { readableLine } from './readable-line.ts'

/** How long a line may wait for others before they are written together, in milliseconds. */
const gatherMs = 10
const gatherBytes = 64 * 1024
/** Bytes that a slow reader may leave waiting; further lines are dropped. */
const backlogBytes = 16 * 1024 * 1024
const lineBreak = 10
const flushPollMs = 10

/** A destination that may be slow or fail; writing to it never waits. */
interface Outlet {
  /** @param lines whole lines in UTF-8, which must not change */
  write(lines: Buffer): void
  /** Bytes that are not written yet. */
  readonly pending: number
}

/**
 * Writes log lines to a file descriptor, many at a time, because a write costs more than a line. A stalled reader, a full
 * disk and a closed pipe never block the process: it drops lines, and logs their number once it can write again. Lines are
 * encoded at once, so that they are not thousands of small objects for the garbage collector.
 *
 * sonic-boom would block a thread in a write to a stalled pipe, and keep the process from ending.
 */
export class LogOutput implements DestinationStream {
  readonly #outlet: Outlet
  readonly #gathered = Buffer.allocUnsafeSlow(gatherBytes)
  #length = 0
  #timer: NodeJS.Timeout | undefined
  #droppedLines = 0

  constructor(fd: number) {
    const stat = fstatSync(fd)
    const lost = (lines: Buffer): void => {
      this.#droppedLines += linesIn(lines)
    }
    this.#outlet = stat.isFIFO() || stat.isSocket() ? pipe(fd, lost) : file(fd, lost)
  }

  write(line: string): void {
    const mostBytes = line.length * characterBytes
    if (mostBytes > gatherBytes) {
      this.writeNow()
      return this.#send(Buffer.from(line))
    }
    if (mostBytes > gatherBytes - this.#length) this.writeNow()
    this.#length += this.#gathered.write(line, this.#length)
    this.#timer ??= setTimeout(() => this.writeNow(), gatherMs).unref()
  }

  /** Waits until everything is written, or for so long. */
  async flush(timeoutMs: number): Promise<void> {
    this.writeNow()
    const deadline = performance.now() + timeoutMs
    while (this.#outlet.pending > 0 && performance.now() < deadline) await sleep(flushPollMs)
  }

  /** Passes on what is gathered: a file has it at once, a pipe as soon as it has room. */
  writeNow(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#length === 0) return
    const lines = Buffer.from(this.#gathered.subarray(0, this.#length))
    this.#length = 0
    this.#send(lines)
  }

  #send(lines: Buffer): void {
    if (this.#outlet.pending > backlogBytes) {
      this.#droppedLines += linesIn(lines)
      return
    }
    const notice = this.#droppedNotice()
    if (notice !== '') this.#outlet.write(Buffer.from(notice))
    this.#outlet.write(lines)
  }

  #droppedNotice(): string {
    if (this.#droppedLines === 0) return ''
    const line = {
      level: 'warn',
      time: new Date(),
      lines: this.#droppedLines,
      msg: 'log lines dropped',
    }
    this.#droppedLines = 0
    return `${JSON.stringify(line)}\n`
  }
}

/** A pipe or socket, which may be full. */
function pipe(fd: number, lost: (lines: Buffer) => void): Outlet {
  const socket = new Socket({ fd, readable: false, writable: true }).unref()
  socket.on('error', () => {})
  return {
    get pending() {
      return socket.writableLength
    },
    write(lines) {
      if (socket.writable) socket.write(lines)
      else lost(lines)
    },
  }
}

/** A file or a device: it has no reader to wait for, but may be full. */
const file = (fd: number, lost: (lines: Buffer) => void): Outlet => ({
  pending: 0,
  write(lines) {
    try {
      if (writeSync(fd, lines) < lines.length) lost(lines)
    } catch {
      lost(lines)
    }
  },
})

function linesIn(lines: Buffer): number {
  let count = 0
  for (let at = lines.indexOf(lineBreak); at !== -1; at = lines.indexOf(lineBreak, at + 1)) {
    count += 1
  }
  return count
}

const standard = new Map<1 | 2, LogOutput>()

/** The standard output of this process, or its standard error as 2. */
export function standardOutput(fd: 1 | 2 = 1): LogOutput {
  const known = standard.get(fd)
  if (known !== undefined) return known
  const output = new LogOutput(fd)
  standard.set(fd, output)
  process.on('exit', () => output.writeNow())
  return output
}

/** Waits until the log lines of this process are written, or for so long. */
export async function flushLogs(timeoutMs: number): Promise<void> {
  await Promise.all(Array.from(standard.values(), (output) => output.flush(timeoutMs)))
}

/**
 * The destination of log lines in a format.
 *
 * @param format `auto` is text on a terminal, otherwise json
 * @param fd 2 for a command whose result is on the standard output
 */
export function logOutput(format: 'auto' | 'text' | 'json', fd: 1 | 2 = 1): DestinationStream {
  const output = standardOutput(fd)
  if (format === 'json' || (format === 'auto' && !isatty(fd))) return output
  return { write: (line) => output.write(readableLine(line)) }
}

/** Calls `make` with the time in RFC 3339, at most once a millisecond, and returns its latest result. */
export function eachMillisecond<T>(make: (time: string) => T): () => T {
  let madeAtMs = Number.NaN
  let made: T
  return () => {
    const nowMs = Date.now()
    if (nowMs !== madeAtMs) {
      madeAtMs = nowMs
      made = make(new Date(nowMs).toISOString())
    }
    return made
  }
}
