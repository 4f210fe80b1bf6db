import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger }

/** `silent` writes nothing. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/**
 * A logger that writes one JSON object a line: `time` (RFC 3339), `level` (its name), `msg` (constant), `component`,
 * then what belongs to the event. Errors go under `err`.
 *
 * @param destination default: stdout
 */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: ['authorization', 'headers.authorization', 'headers.cookie'],
        censor: '***',
      },
      serializers: { err: serializeError },
    },
    destination ?? pino.destination({ dest: 1, sync: false }),
  )
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
