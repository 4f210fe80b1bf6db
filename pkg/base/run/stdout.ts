import { fstatSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { Writable } from 'node:stream'
import { messageOf } from '../errors/errors.ts'

type StandardOutput = Writable & { readonly isTTY?: boolean; readonly columns?: number }

let isComplete = true

/**
 * Tells the person once. The work goes on, because stopping it would not bring the output back. Exits as if killed by SIGPIPE
 * if the reader of a pipe is gone, as after `| head`.
 */
function noteFailure(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE)
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
        noteFailure(error as NodeJS.ErrnoException)
      }
      done()
    },
  })

/** Standard output for results. Logs have their own. */
export const stdout: StandardOutput = fstatSync(1).isFile() ? file() : process.stdout

/** Keeps the process if the output cannot be written. */
export function watchStdout(): void {
  stdout.on('error', noteFailure)
}

/** Exits with the status when the output has left, with 1 in place of 0 if it is not complete. */
export function exitAfterOutput(status: number): void {
  stdout.write('', (error) => {
    // The event of a failed write can come later.
    if (error) noteFailure(error)
    process.exit(isComplete ? status : status || 1)
  })
}
