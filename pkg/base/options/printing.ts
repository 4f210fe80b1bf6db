import * as z from 'zod'
import { flagged } from './table.ts'

/** From the most detailed to the least. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const anyLevel = `${logLevels.slice(0, -1).join(', ')} or ${logLevels.at(-1)}`

/** Options for the log of a process. */
export const logOptions = flagged({
  logLevel: {
    value: z
      .enum(logLevels, { error: `is not a log level: write ${anyLevel}` })
      .meta({ title: 'LEVEL' }),
    default: 'info',
    meaning: `Minimum log level: ${anyLevel}.`,
  },
  logFormat: {
    value: z
      .enum(['auto', 'text', 'json'], { error: 'is not a log format: write auto, text or json' })
      .meta({ title: 'FORMAT' }),
    default: 'auto',
    meaning:
      'Log format: text for people, json for programs. auto writes text to a terminal, and json elsewhere.',
  },
})

/** The format of a command's result. */
export const outputOption = {
  short: 'o',
  value: z
    .enum(['text', 'json'], { error: 'is not an output format: write text or json' })
    .meta({ title: 'FORMAT' }),
  default: 'text',
  meaning: 'Output format: text or json.',
} as const
