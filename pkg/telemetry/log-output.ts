import { fstatSync, write as writeFile, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DestinationStream } from 'pino'

/** How long a line may wait for others before they are written together, in milliseconds. */
const gatherMs = 10
const gatherCharacters = 64 * 1024
/** Characters that a slow reader may leave waiting; further lines are dropped. */
const backlogCharacters = 16 * 1024 * 1024
const flushPollMs = 10

/** Where text goes without waiting: something that may take its time, or fail. */
interface Outlet {
  write(text: string): void
  /** Characters that are not written yet. */
  readonly pending: number
  /** Writes what is pending, if that can be done without waiting for anybody. */
  writeNow(): void
}

/**
 * Log lines on a file descriptor, many at a time: a write costs more than the line in it. A reader that stalls, a full
 * disk, a closed pipe: none of them holds the process up. What cannot be written is dropped, and a line tells how much
 * as soon as there is a way again.
 */
export class LogOutput implements DestinationStream {
  readonly #outlet: Outlet
  #gathered = ''
  #timer: NodeJS.Timeout | undefined
  #droppedLines = 0

  constructor(fd: number) {
    const stat = fstatSync(fd)
    const lost = (text: string): void => {
      this.#droppedLines += linesIn(text)
    }
    this.#outlet = stat.isFIFO() || stat.isSocket() ? new Pipe(fd, lost) : new File(fd, lost)
  }

  write(line: string): void {
    this.#gathered += line
    if (this.#gathered.length > gatherCharacters) this.#pass()
    else this.#timer ??= setTimeout(() => this.#pass(), gatherMs).unref()
  }

  /** Waits until everything is written, or for so long. */
  async flush(timeoutMs: number): Promise<void> {
    this.#pass()
    const deadline = performance.now() + timeoutMs
    while (this.#outlet.pending > 0 && performance.now() < deadline) await sleep(flushPollMs)
  }

  /** The last chance, when the process ends. */
  writeNow(): void {
    this.#pass()
    this.#outlet.writeNow()
  }

  #pass(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const text = this.#gathered
    this.#gathered = ''
    if (text === '') return
    if (this.#outlet.pending > backlogCharacters) {
      this.#droppedLines += linesIn(text)
      return
    }
    this.#outlet.write(this.#droppedNotice() + text)
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
class Pipe implements Outlet {
  readonly #socket: Socket
  readonly #lost: (text: string) => void

  constructor(fd: number, lost: (text: string) => void) {
    this.#socket = new Socket({ fd, readable: false, writable: true }).unref()
    this.#socket.on('error', () => {})
    this.#lost = lost
  }

  get pending(): number {
    return this.#socket.writableLength
  }

  write(text: string): void {
    if (this.#socket.writable) this.#socket.write(text)
    else this.#lost(text)
  }

  writeNow(): void {}
}

/** A file or a device, which never waits for a reader but may be full. */
class File implements Outlet {
  readonly #fd: number
  readonly #lost: (text: string) => void
  #waiting = ''
  #writing = ''

  constructor(fd: number, lost: (text: string) => void) {
    this.#fd = fd
    this.#lost = lost
  }

  get pending(): number {
    return this.#waiting.length + this.#writing.length
  }

  write(text: string): void {
    this.#waiting += text
    if (this.#writing === '') this.#next()
  }

  writeNow(): void {
    try {
      if (this.#waiting !== '') writeSync(this.#fd, this.#waiting)
    } catch {
      // There is nowhere left to say it.
    }
    this.#waiting = ''
  }

  #next(): void {
    this.#writing = this.#waiting
    this.#waiting = ''
    if (this.#writing === '') return
    const bytes = Buffer.from(this.#writing)
    writeFile(this.#fd, bytes, (error, written) => {
      if (error !== null || written < bytes.length) this.#lost(this.#writing)
      this.#writing = ''
      this.#next()
    })
  }
}

function linesIn(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

let stdout: LogOutput | undefined

/** The log of this process. */
export function standardOutput(): LogOutput {
  if (stdout === undefined) {
    stdout = new LogOutput(1)
    process.on('exit', () => stdout?.writeNow())
  }
  return stdout
}
