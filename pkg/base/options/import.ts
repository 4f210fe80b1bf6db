import { fetchingOptions, limitOptions } from './fetching.ts'
import { logOptions } from './printing.ts'
import { serverCommand } from './server.ts'
import { type Command, flagged, type Options, type SecretTable } from './table.ts'
import { archivesOption, countTo, name, namespace, oneOf, path, toggle } from './values.ts'
import { storageVariables } from './variables.ts'

const { apiGroup } = serverCommand.options
const { spoolSizeBytes, egressAllow, egressCaPath } = fetchingOptions

const options = flagged({
  manifests: {
    value: path,
    default: './manifests',
    meaning: 'Directory for the manifests; it is created if it is missing.',
  },
  archives: {
    ...archivesOption,
    default: './archives',
    meaning: 'Root folder of archives, as of `depot server`. It is created if it is missing.',
  },
  storageConfig: {
    value: path,
    otherwise: 'the directory `archives` below `--archives`',
    meaning:
      'YAML file with the `storageConfig` of all imports, such as `s3: {bucket: …, region: …}`.',
  },
  list: {
    value: path,
    otherwise: 'none',
    meaning: 'File with more sources, one per line. # begins a comment.',
  },
  namespace: {
    value: namespace,
    otherwise: 'the one in each source',
    meaning: 'Namespace of all imports.',
  },
  name: {
    value: name,
    meaning: 'Name of a module that is imported from the tags of a repository.',
  },
  system: {
    value: name,
    meaning:
      'Target system of a module that is imported from the tags of a repository, such as `aws`.',
  },
  tagPrefix: {
    value: name,
    meaning: 'Prefix of the tags before the version, such as `vpc/v`.',
  },
  versions: {
    value: name,
    otherwise: 'all',
    meaning: 'Version constraints in the syntax of the CLIs, such as `>= 1.2, < 3`.',
  },
  format: {
    value: oneOf('a format', 'zip', 'tar.gz').meta({ title: 'FORMAT' }),
    default: 'tar.gz',
    meaning: 'Archive format of modules: zip or tar.gz.',
  },
  unsigned: toggle('Also import providers without a signature.'),
  dryRun: toggle('Print the planned imports; fetch no archives and write nothing.'),
  parallel: {
    value: countTo(64),
    default: '4',
    meaning: 'How many archives to import concurrently, 1 to 64.',
  },
  apiGroup,
  spoolDir: {
    value: path,
    otherwise: 'a subfolder of the folder for temporary files',
    meaning: 'Directory for archives in transit.',
  },
  spoolSizeBytes,
  ...limitOptions,
  egressAllow,
  egressCaPath,
  ...logOptions,
  logLevel: { ...logOptions.logLevel, default: 'warn' },
})

const secrets = {
  token: {
    variable: 'DEPOT_IMPORT_TOKEN',
    meaning: 'Token for the registry or the Git host. It is not sent to any other host.',
  },
} satisfies SecretTable

/** Fills a registry from another one. */
export const importCommand = {
  program: 'depot import',
  operands: 'SOURCE…',
  // A list may name them all.
  operandsOptional: true,
  summary:
    'Imports modules and providers from another registry, the tags of a repository or a folder of archives. Exit status: 1 if something failed, 2 for wrong options, 130 or 143 after a signal.',
  examples: [
    'depot import registry.opentofu.org/terraform-aws-modules/vpc/aws --versions ">= 5.0"',
    'depot import https://github.com/acme/terraform-vpc --namespace platform --name vpc --system aws',
    'depot import ./mirror --namespace platform --dry-run',
  ],
  options,
  groups: {
    manifests: 'Folders',
    list: 'Sources',
    format: 'Work',
    moduleSizeLimitBytes: 'Limits',
    egressAllow: 'Upstreams',
    logLevel: 'Output',
  },
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
