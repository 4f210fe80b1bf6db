import { fetchingOptions } from './fetching.ts'
import { outputFormat, outputOption } from './printing.ts'
import { serverCommand } from './server.ts'
import { type Command, flagged, type Options } from './table.ts'
import { archivesOption, toggle } from './values.ts'

const { apiGroup, namespace } = serverCommand.options

const options = flagged({
  apiGroup,
  namespace,
  output: {
    ...outputOption,
    formerFlag: 'format',
    value: outputFormat('text', 'json', 'sarif'),
    meaning: 'Output format: text, json or sarif (for the code scanning of a Git host).',
  },
  upstreamHosts: fetchingOptions.upstreamHosts,
  partial: toggle(
    'The manifests refer to objects in other places: report missing ones as warnings, not as errors.',
  ),
  archives: {
    ...archivesOption,
    otherwise: 'archives are not checked',
    meaning:
      'Root folder of archives on the file system. Each archive must exist there, with the digest of its Version, CLIs must be able to use it, and the files of a module must parse.',
  },
})

/** Checks manifests before they are applied or served. */
export const lintCommand = {
  program: 'depot lint',
  operands: 'PATH…',
  summary:
    'Checks manifests: fields, values, references, sources, conflicts, expressions. Exit status: 1 if it finds an error.',
  examples: ['depot lint registry', 'depot lint registry --archives archives -o sarif'],
  options,
} satisfies Command<typeof options>

export type LintCommandOptions = Options<typeof options>
