import { flagged } from './table.ts'
import { oneOf } from './values.ts'

/** From the most detailed to the least. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** Options for the log of a process. */
export const logOptions = flagged({
  logLevel: {
    value: oneOf('a log level', ...logLevels).meta({ title: 'LEVEL' }),
    default: 'info',
    meaning: 'Minimum log level: trace, debug, info, warn, error, fatal or silent.',
  },
  logFormat: {
    value: oneOf('a log format', 'auto', 'text', 'json').meta({ title: 'FORMAT' }),
    default: 'auto',
    meaning:
      'Log format: text for people, json for programs. auto writes text to a terminal, and json elsewhere.',
  },
})

export const outputFormat = <const T extends readonly string[]>(...words: T) =>
  oneOf('an output format', ...words).meta({ title: 'FORMAT' })

/** The format of a command's result. */
export const outputOption = {
  short: 'o',
  value: outputFormat('text', 'json'),
  default: 'text',
  meaning: 'Output format: text or json.',
} as const
