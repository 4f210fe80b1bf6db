import {
  fetchingGroups,
  fetchingOptions,
  graceOptions,
  policyOptions,
  sourceOptions,
} from './fetching.ts'
import { logOptions, outputOption } from './printing.ts'
import { apart } from './rules.ts'
import { serverCommand } from './server.ts'
import { type Command, flagged, type Options } from './table.ts'
import { path, toggle } from './values.ts'
import { storageVariables } from './variables.ts'

const { apiGroup } = serverCommand.options
const { archives, spoolDir, ...fetching } = fetchingOptions

const options = flagged({
  manifests: {
    value: path,
    default: '.',
    meaning:
      'Directory of YAML manifests. Depot reads Depots, Modules and Providers from it, and writes new resources and statuses into it.',
  },
  archives: {
    ...archives,
    default: './archives',
    meaning:
      'Root folder of archives whose `storageConfig` is `fileSystem`, as of `depot server`. It is created if it is missing.',
  },
  watch: toggle(
    'Keep running: follow changes of the manifests, and poll upstreams for new versions.',
  ),
  check: toggle(
    'Write nothing: compare storage and upstream with the records, list every difference, and exit with 1 if there is one.',
  ),
  verify: toggle(
    'Read and hash every stored archive. Without it, Depot only checks that each one exists and has the right size.',
  ),
  confirmRemovals: toggle(
    'Remove stored versions that are no longer wanted, even many at once. Without this flag, a removal of many versions waits until you confirm it.',
  ),
  ...graceOptions,
  apiGroup,
  ...fetching,
  ...policyOptions,
  ...sourceOptions,
  spoolDir: {
    flag: spoolDir.flag,
    value: spoolDir.value,
    meaning: spoolDir.meaning,
    otherwise: 'a subfolder of the folder for temporary files',
  },
  output: outputOption,
  ...logOptions,
  logLevel: {
    flag: logOptions.logLevel.flag,
    value: logOptions.logLevel.value,
    otherwise: 'error, and warn with `--watch`',
    meaning: logOptions.logLevel.meaning,
  },
})

/** Fills a folder of manifests and its archives, without a cluster. */
export const syncCommand = {
  program: 'depot sync',
  summary:
    'Fetches, verifies and stores the versions that the resources in a folder name. Exit status: 1 if something failed, 2 for wrong options, 130 or 143 after a signal.',
  examples: [
    'depot sync --manifests registry --archives archives',
    'depot sync --manifests registry --archives archives --watch',
    'depot sync --manifests registry --archives archives --check',
  ],
  options,
  groups: {
    manifests: 'Folders',
    watch: 'Work',
    ...fetchingGroups,
    output: 'Output',
  },
  variables: storageVariables,
  rules: [apart('check', 'watch', 'a check ends')],
} satisfies Command<typeof options>

export type SyncCommandOptions = Options<typeof options>
