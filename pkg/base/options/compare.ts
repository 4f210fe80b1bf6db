import * as z from 'zod'
import { outputOption } from './printing.ts'
import type { Command, Options, OptionTable, SecretTable } from './table.ts'

const options = {
  output: {
    ...outputOption,
    value: z
      .enum(['text', 'json', 'markdown'], {
        error: 'is not an output format: write text, json or markdown',
      })
      .meta({ title: 'FORMAT' }),
    meaning: 'Output format: text, json, or markdown (for a comment on a pull request).',
  },
} satisfies OptionTable

/** Compares two versions of a module. */
export const compareCommand = {
  program: 'depot compare',
  operands: 'FROM TO',
  summary:
    'Says what changed between two versions of a module, each a folder or an archive, and whether that breaks callers. Exits with 0 if it does not, 1 if it does, and 2 if that cannot be decided.',
  examples: ['depot compare vpc-1.4.0.zip .', 'depot compare main/ branch/ -o markdown'],
  options,
} satisfies Command<typeof options, SecretTable>

export type CompareCommandOptions = Options<typeof options>
