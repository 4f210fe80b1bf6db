import * as z from 'zod'
import { fetchingOptions, limitOptions } from './fetching.ts'
import { serverCommand } from './server.ts'
import type { Command, Options, OptionTable, SecretTable } from './table.ts'
import { name, namespace, onOff, path } from './values.ts'
import { storageVariables } from './variables.ts'

const { apiGroup, logLevel } = serverCommand.options
const { spoolSizeBytes, egressAllow, egressCaPath } = fetchingOptions

const options = {
  manifests: {
    flag: 'manifests',
    value: path,
    default: './manifests',
    meaning: 'Directory that manifests are written into; made where it is missing.',
  },
  archives: {
    flag: 'archives',
    value: path,
    default: './archives',
    meaning:
      'Root of archives on the file system: what `depot server` is given as `--filesystem-mount-path`. Made where it is missing.',
  },
  storageConfig: {
    flag: 'storage-config',
    value: path,
    otherwise: 'the directory `archives` below `--archives`',
    meaning:
      'YAML file with the `storageConfig` of everything that is imported, such as `s3: {bucket: …, region: …}`.',
  },
  list: {
    flag: 'list',
    value: path,
    otherwise: 'none',
    meaning: 'File with more sources, one on each line; what follows a # is a comment.',
  },
  namespace: {
    flag: 'namespace',
    value: namespace,
    otherwise: 'the one in each source',
    meaning: 'Namespace of everything that is imported.',
  },
  name: {
    flag: 'name',
    value: name,
    meaning: 'Name of a module that comes from the tags of a repository.',
  },
  system: {
    flag: 'system',
    value: name,
    meaning: 'Target system of a module that comes from the tags of a repository, such as `aws`.',
  },
  tagPrefix: {
    flag: 'tag-prefix',
    value: name,
    meaning: 'What the tags of a repository begin with before the version, such as `vpc/v`.',
  },
  versions: {
    flag: 'versions',
    value: name,
    otherwise: 'all',
    meaning: 'Which versions are imported, in the syntax of the CLIs, such as `>= 1.2, < 3`.',
  },
  format: {
    flag: 'format',
    value: z
      .enum(['zip', 'tar.gz'], { error: 'is no format: write zip or tar.gz' })
      .meta({ title: 'FORMAT' }),
    default: 'tar.gz',
    meaning: 'How modules are packed: zip or tar.gz.',
  },
  unsigned: {
    flag: 'unsigned',
    value: onOff,
    default: 'false',
    meaning: 'Also take providers that their registry does not sign.',
  },
  dryRun: {
    flag: 'dry-run',
    value: onOff,
    default: 'false',
    meaning: 'Print what would be imported; fetch no archive and write nothing.',
  },
  parallel: {
    flag: 'parallel',
    value: z
      .string()
      .regex(/^([1-9]|[1-5]\d|6[0-4])$/, 'is no number from 1 to 64')
      .transform(Number)
      .meta({ title: 'COUNT' }),
    default: '4',
    meaning: 'How many archives are imported at a time, 1 to 64.',
  },
  apiGroup,
  spoolDir: {
    flag: 'spool-dir',
    value: path,
    otherwise: 'a folder below that for temporary files',
    meaning: 'Directory for archives on their way.',
  },
  spoolSizeBytes,
  ...limitOptions,
  egressAllow,
  egressCaPath,
  logLevel: { ...logLevel, default: 'warn' },
} satisfies OptionTable

const secrets = {
  token: {
    variable: 'DEPOT_IMPORT_TOKEN',
    meaning:
      'Token for the registry or the Git host that is imported from. It is sent to no other.',
  },
} satisfies SecretTable

/** Fills a registry from another one. */
export const importCommand = {
  program: 'depot import',
  operands: 'SOURCE…',
  // A list may name them all.
  operandsOptional: true,
  summary:
    'Imports modules and providers of another registry, tags of a repository or a folder of archives. Exit status 1 where something failed, 2 for wrong options, 130 or 143 after a signal.',
  options,
  secrets,
  variables: storageVariables,
  rules: [
    ({ given, name: flag }) =>
      given('name') === given('system')
        ? undefined
        : `${flag('name')} and ${flag('system')} belong together: set both or none`,
  ],
} satisfies Command<typeof options, typeof secrets>

export type ImportCommandOptions = Options<typeof options>
