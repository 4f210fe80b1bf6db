import { type DestinationStream, pino } from 'pino'

/** How long a line may wait for others before they are written together, in milliseconds. */
const gatherMs = 10
const gatherCharacters = 64 * 1024
/** Lines that a slow reader of stdout may leave waiting, in bytes; further ones are dropped. */
const backlogBytes = 16 * 1024 * 1024

/**
 * Standard output, written without waiting and many lines at a time: a write costs more than the line in it. Nothing is
 * lost when the process exits in order.
 */
export function standardOutput(): DestinationStream {
  shared ??= gatheringOutput()
  return shared
}

let shared: DestinationStream | undefined

function gatheringOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false, maxLength: backlogBytes })
  let gathered = ''
  let timer: NodeJS.Timeout | undefined
  const write = (): void => {
    clearTimeout(timer)
    timer = undefined
    const lines = gathered
    gathered = ''
    if (lines !== '') output.write(lines)
  }
  process.on('exit', () => {
    write()
    output.flushSync()
  })
  return {
    write(line) {
      gathered += line
      if (gathered.length > gatherCharacters) write()
      else timer ??= setTimeout(write, gatherMs).unref()
    },
  }
}
