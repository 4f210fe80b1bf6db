import { registryOptions } from './compare.ts'
import { outputFormat, outputOption } from './printing.ts'
import { type Command, flagged, type Options } from './table.ts'
import { toggle } from './values.ts'

const options = flagged({
  outdated: toggle(
    'Only consumers of a version that is not the newest, is deprecated, withdrawn or gone, or has CRITICAL findings.',
  ),
  output: {
    ...outputOption,
    formerFlag: 'format',
    value: outputFormat('text', 'json', 'csv'),
    meaning: 'Output format: text, json or csv (a row for each version that a consumer uses).',
  },
  ...registryOptions,
})

/** Prints who uses a module or provider. */
export const consumersCommand = {
  program: 'depot consumers',
  operands: 'ADDRESS',
  summary:
    'Prints who downloaded a module or provider of a registry in the last 90 days, and which versions. An address is HOST/NAMESPACE/NAME/SYSTEM of a module or HOST/NAMESPACE/TYPE of a provider. You need the right to publish it.',
  examples: [
    'depot consumers depot.example.com/network/vpc/aws',
    'depot consumers depot.example.com/network/vpc/aws --outdated -o csv',
  ],
  options,
} satisfies Command<typeof options>

export type ConsumersCommandOptions = Options<typeof options>
