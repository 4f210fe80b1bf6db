import { fetchingOptions } from './fetching.ts'
import { outputFormat, outputOption } from './printing.ts'
import { type Command, flagged, type Options } from './table.ts'

const { egressAllow, egressCaPath } = fetchingOptions

/** Options of commands that read modules of a registry. */
export const registryOptions = {
  egressAllow: {
    ...egressAllow,
    meaning: 'Additional hosts, in any network, to which a registry can refer for its archives.',
  },
  egressCaPath: {
    ...egressCaPath,
    meaning: 'PEM file with additional certificate authorities for registries.',
  },
}

const options = flagged({
  output: {
    ...outputOption,
    formerFlag: 'format',
    value: outputFormat('text', 'json', 'markdown'),
    meaning: 'Output format: text, json, or markdown (for a comment on a pull request).',
  },
  ...registryOptions,
})

/** Compares two versions of a module. */
export const compareCommand = {
  program: 'depot compare',
  operands: '[ADDRESS] FROM TO',
  summary:
    'Shows what changed between two versions of a module, and whether it breaks callers. FROM and TO are each a folder, an archive, or HOST/NAMESPACE/NAME/SYSTEM[@VERSION] in a registry; the newest release is the default. An address before two versions applies to both. Exit status: 0 if callers need not change anything, 1 if it breaks callers, 2 if Depot cannot decide.',
  examples: [
    'depot compare vpc-1.4.0.zip .',
    'depot compare main/ branch/ -o markdown',
    'depot compare depot.example.com/network/vpc/aws .',
    'depot compare depot.example.com/network/vpc/aws@1.4.0 .',
    'depot compare depot.example.com/network/vpc/aws 1.4.0 2.0.0',
  ],
  options,
} satisfies Command<typeof options>

export type CompareCommandOptions = Options<typeof options>
