import { registryOptions } from './compare.ts'
import { outputFormat, outputOption } from './printing.ts'
import { type Command, flagged, type Options } from './table.ts'
import { oneOf } from './values.ts'

const options = flagged({
  failOn: {
    value: oneOf('a severity', 'CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'UNKNOWN').meta({
      title: 'SEVERITY',
    }),
    default: 'HIGH',
    meaning:
      'Exit with 1 for findings of this severity or a worse one: CRITICAL, HIGH, MEDIUM, LOW, or UNKNOWN for all.',
  },
  output: {
    ...outputOption,
    formerFlag: 'format',
    value: outputFormat('text', 'json', 'sarif', 'cyclonedx'),
    meaning:
      'Output format: text, json, sarif (for the code scanning of a Git host) or cyclonedx (for inventories).',
  },
  ...registryOptions,
})

/** Prints what scans found in a version. */
export const findingsCommand = {
  program: 'depot findings',
  operands: 'ADDRESS[@VERSION]',
  summary:
    'Prints what scans found in a version in a registry. An address is HOST/NAMESPACE/NAME/SYSTEM of a module or HOST/NAMESPACE/TYPE of a provider; the latest version is the default. Exit status: 0 if everything was scanned and no finding has the severity of --fail-on or a worse one, 1 if a finding has, 2 if Depot cannot decide.',
  examples: [
    'depot findings depot.example.com/network/vpc/aws@1.4.0',
    'depot findings depot.example.com/platform/random --fail-on CRITICAL -o sarif',
  ],
  options,
} satisfies Command<typeof options>

export type FindingsCommandOptions = Options<typeof options>
