import { fstatSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { Writable } from 'node:stream'
import { messageOf } from '../errors/errors.ts'

type StandardOutput = Writable & { readonly isTTY?: boolean; readonly columns?: number }

let isComplete = true

/** Tells the person once. The work goes on, because stopping it would not bring the output back. */
function noteFailure(error: unknown): void {
  if (isComplete) {
    process.stderr.write(`depot: the output is not complete: ${messageOf(error)}\n`)
  }
  isComplete = false
}

/** A file gets every byte: `process.stdout` takes a partial write for a complete one, as when a disk becomes full. */
const file = (): Writable =>
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      try {
        writeFileSync(1, chunk)
      } catch (error) {
        noteFailure(error)
      }
      done()
    },
  })

/** Standard output for results. Logs have their own. */
export const stdout: StandardOutput = fstatSync(1).isFile() ? file() : process.stdout

/** Keeps the process if the output cannot be written. Ends it if the reader of a pipe is gone. */
export function watchStdout(): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // As if killed by SIGPIPE, as after `| head`.
    if (error.code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE)
    noteFailure(error)
  })
}

/** Exits with the status when the output has left, with 1 in place of 0 if it is not complete. */
export function exitAfterOutput(status: number): void {
  // The event of a failed write can come after this callback.
  stdout.write('', () => setImmediate(() => process.exit(isComplete ? status : status || 1)))
}
