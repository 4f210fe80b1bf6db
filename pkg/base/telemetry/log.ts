import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino'
import { messageOf } from '../errors/errors.ts'
import { eachMillisecond, standardOutput } from './log-output.ts'

export type { Logger }

/**
 * A logger that writes one JSON object a line: `time` (RFC 3339), `level` (its name), `msg` (constant), `component`,
 * then what belongs to the event. Errors go under `err`.
 *
 * @param level `silent` writes nothing
 * @param destination default: stdout
 */
export function createLogger(level: LevelWithSilent, destination?: DestinationStream): Logger {
  const output = destination ?? standardOutput()
  const timeNow = eachMillisecond((time) => `,"time":"${time}"`)
  const log = pino(
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
    output,
  )
  outputs.set(log, output)
  return log
}

const outputs = new WeakMap<Logger, DestinationStream>()

/** Output of a logger; undefined for children of a logger. */
export const outputOf = (log: Logger): DestinationStream | undefined => outputs.get(log)

function serializeError(thrown: unknown): Record<string, unknown> {
  if (!(thrown instanceof Error)) return { message: String(thrown) }
  const { reason } = thrown as { reason?: unknown }
  return {
    ...(typeof reason === 'string' && { reason }),
    message: messageOf(thrown),
    stack: thrown.stack,
    ...(thrown.cause !== undefined && { cause: serializeError(thrown.cause) }),
  }
}
