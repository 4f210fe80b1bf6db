import * as z from 'zod'
import { serverCommand } from './server.ts'
import type { Command, Options, OptionTable, SecretTable } from './table.ts'
import { onOff, path } from './values.ts'

const { apiGroup, namespace } = serverCommand.options

const options = {
  apiGroup,
  namespace,
  format: {
    flag: 'format',
    value: z
      .enum(['text', 'json', 'sarif'], { error: 'is no format: write text, json or sarif' })
      .meta({ title: 'FORMAT' }),
    default: 'text',
    meaning:
      'How to print what was found: text, json or sarif (for the code scanning of a Git host).',
  },
  partial: {
    flag: 'partial',
    value: onOff,
    default: 'false',
    meaning:
      'The manifests refer to objects that are elsewhere: what is missing is a warning, not an error.',
  },
  filesystemMountPath: {
    flag: 'filesystem-mount-path',
    value: path,
    otherwise: 'archives are not looked at',
    meaning:
      'Where the archives of the filesystem backend are: each must be there, with the digest that its Version has.',
  },
} satisfies OptionTable

/** Checks manifests before they are applied or served. */
export const lintCommand = {
  program: 'depot lint',
  operands: 'PATH…',
  summary:
    'Checks manifests: fields, values, references, conflicts, expressions. Exit status 1 where it finds an error.',
  options,
  secrets: {},
  rules: [],
} satisfies Command<typeof options, SecretTable>

export type LintCommandOptions = Options<typeof options>
