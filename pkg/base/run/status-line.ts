import type { WriteStream } from 'node:tty'

/** A place for text of the program. */
export type TextOutput = Pick<WriteStream, 'write'> & {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Lines, and on a terminal a last one that says how far work is. It uses no colors. */
export interface StatusLine {
  /** Whether `draw` shows anything: not in files, pipes and terminals that cannot clear a line. */
  readonly isTerminal: boolean
  print(line: string): void
  draw(text: string): void
  clear(): void
}

/** @param terminalType value of TERM */
export function statusLine(
  output: TextOutput,
  terminalType: string | undefined = process.env['TERM'],
): StatusLine {
  const isTerminal = output.isTTY === true && terminalType !== 'dumb'
  const clear = () => {
    if (isTerminal) output.write('\r\x1b[K')
  }
  return {
    isTerminal,
    clear,
    print(line) {
      clear()
      output.write(`${line}\n`)
    },
    draw(text) {
      if (!isTerminal) return
      // A terminal that does not know its width reports 0.
      output.write(`\r\x1b[K${text.slice(0, (output.columns || 80) - 1)}`)
    },
  }
}
