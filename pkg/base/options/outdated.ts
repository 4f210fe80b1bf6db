import { registryOptions } from './compare.ts'
import { outputFormat, outputOption } from './printing.ts'
import { type Command, flagged, type Options } from './table.ts'
import { list, path } from './values.ts'

const options = flagged({
  host: {
    value: list,
    otherwise: 'every host that the configuration names, except the public registries',
    meaning:
      'Registries to ask. Modules and providers of other registries are listed, but not checked.',
  },
  tokenFile: {
    value: path,
    otherwise: 'the tokens of Terraform and OpenTofu',
    meaning: 'File with the token for the registry that --host names. No other host gets it.',
  },
  ignore: {
    value: list,
    otherwise: 'none',
    meaning:
      'Findings to leave out: behind, excluded, deprecated, yanked, quarantined, vulnerable or gone.',
  },
  output: {
    ...outputOption,
    formerFlag: 'format',
    value: outputFormat('text', 'json', 'sarif', 'markdown'),
    meaning:
      'Output format: text, json, sarif (for the code scanning of a Git host) or markdown (for a comment on a pull request).',
  },
  ...registryOptions,
})

/** Says which modules and providers of a working directory need attention. */
export const outdatedCommand = {
  program: 'depot outdated',
  operands: '[DIR]',
  operandsOptional: true,
  summary:
    'Lists the modules and providers of a working directory that are behind, deprecated, yanked, quarantined, vulnerable or gone. It reads module calls, required providers and the lock file, and asks the registries. Exit status: 0 if it found nothing, 1 if it found something, 2 if it found nothing but could not check everything.',
  examples: [
    'depot outdated',
    'depot outdated infra/prod --ignore behind,excluded -o markdown',
    'depot outdated . --host registry.example.com -o sarif',
  ],
  options,
  rules: [
    // The configuration may be that of a stranger's pull request.
    ({ given, text, name }) =>
      given('tokenFile') && (!given('host') || text('host')?.includes(',') === true)
        ? `${name('tokenFile')} needs ${name('host')} with one registry: only that one gets the token`
        : undefined,
  ],
  groups: { host: 'Work', egressAllow: 'Registries' },
} satisfies Command<typeof options>

export type OutdatedCommandOptions = Options<typeof options>
