import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino'
import { standardOutput } from './log-output.ts'

export type { Logger }

/**
 * A logger that writes one JSON object a line: `time` (RFC 3339), `level` (its name), `msg` (constant), `component`,
 * then what belongs to the event. Errors go under `err`.
 *
 * @param level `silent` writes nothing
 * @param destination default: stdout
 */
export function createLogger(level: LevelWithSilent, destination?: DestinationStream): Logger {
  const timeNow = eachMillisecond((time) => `,"time":"${time}"`)
  return pino(
    {
      level,
      base: null,
      timestamp: timeNow,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: ['authorization', 'headers.authorization', 'headers.cookie'],
        censor: '***',
      },
      serializers: { err: serializeError },
    },
    destination ?? standardOutput(),
  )
}

/**
 * Makes a writer of lines whose fields are JSON already, `"key":value,…`. It does what `log.info` does for a fraction of
 * the cost, which counts where there is a line for every request.
 *
 * @param msg constant, and nothing that JSON would escape
 */
export function lineWriter(log: Logger, msg: string): (fields: string) => void {
  const own = log as unknown as Record<symbol, unknown>
  const bindings = own[pino.symbols.chindingsSym] as string
  const output = own[pino.symbols.streamSym] as DestinationStream
  const end = `,"msg":"${msg}"}\n`
  const startNow = eachMillisecond((time) => flat(`{"level":"info","time":"${time}"${bindings},`))
  return (fields) => {
    if (log.isLevelEnabled('info')) output.write(startNow() + fields + end)
  }
}

/**
 * The same text in one piece. One that was put together is kept as its parts, and whatever is written with it in it walks
 * through all of them again: what is written often is worth a copy.
 */
export const flat = (text: string): string => Buffer.from(text).toString()

/** Gives what is made of the time as RFC 3339 says it; made once a millisecond. */
function eachMillisecond(make: (time: string) => string): () => string {
  let madeAtMs = 0
  let made = ''
  return () => {
    const nowMs = Date.now()
    if (nowMs !== madeAtMs) {
      madeAtMs = nowMs
      made = make(new Date(nowMs).toISOString())
    }
    return made
  }
}

function serializeError(thrown: unknown): Record<string, unknown> {
  if (!(thrown instanceof Error)) return { message: String(thrown) }
  const { reason } = thrown as { reason?: unknown }
  return {
    ...(typeof reason === 'string' && { reason }),
    message: thrown.message,
    stack: thrown.stack,
    ...(thrown.cause !== undefined && { cause: serializeError(thrown.cause) }),
  }
}
