import { fetchingOptions } from './fetching.ts'
import { serverCommand } from './server.ts'
import type { Command, Options, OptionTable, SecretTable } from './table.ts'
import { onOff, path } from './values.ts'
import { storageVariables } from './variables.ts'

const { apiGroup, logLevel } = serverCommand.options
const { filesystemMountPath: _, spoolDir, ...fetching } = fetchingOptions

const options = {
  manifests: {
    flag: 'manifests',
    value: path,
    default: '.',
    meaning:
      'Directory of YAML manifests. Depots, Modules and Providers are read from it; what is made is written into it, as are statuses.',
  },
  archives: {
    flag: 'archives',
    value: path,
    default: './archives',
    meaning:
      'Root of archives whose `storageConfig` names the file system: what `depot server` is given as `--filesystem-mount-path`. Made where it is missing.',
  },
  watch: {
    flag: 'watch',
    value: onOff,
    default: 'false',
    meaning: 'Go on, follow changes of the manifests, and look for new versions when they are due.',
  },
  apiGroup,
  ...fetching,
  spoolDir: {
    flag: spoolDir.flag,
    value: spoolDir.value,
    meaning: spoolDir.meaning,
    otherwise: 'a folder below that for temporary files',
  },
  logLevel: { ...logLevel, default: 'warn' },
} satisfies OptionTable

/** Fills a folder of manifests and its archives, without a cluster. */
export const syncCommand = {
  program: 'depot sync',
  summary:
    'Fetches, verifies and stores what the Depots, Modules and Providers of a folder ask for. Exit status 1 where something failed, 2 for wrong options, 130 or 143 after a signal.',
  options,
  secrets: {},
  variables: storageVariables,
  rules: [],
} satisfies Command<typeof options, SecretTable>

export type SyncCommandOptions = Options<typeof options>
