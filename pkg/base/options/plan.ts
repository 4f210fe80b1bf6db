import * as z from 'zod'
import { fetchingGroups, fetchingOptions, policyOptions } from './fetching.ts'
import { logOptions, outputFormat, outputOption } from './printing.ts'
import { apart } from './rules.ts'
import { serverCommand } from './server.ts'
import { type Command, flagged, type Options } from './table.ts'

const { manifests, kubeconfig, apiGroup } = serverCommand.options
const { archives, spoolDir, spoolSizeBytes: _, ...fetching } = fetchingOptions

const depot = z
  .string()
  .regex(/^[^/]+\/[^/]+$/, { error: 'is not a Depot: write NAMESPACE/NAME' })
  .meta({ title: 'NS/NAME' })

const options = flagged({
  manifests,
  kubeconfig: { ...kubeconfig, meaning: 'Kubeconfig with which the cluster is read.' },
  depot: {
    value: depot,
    otherwise: 'the objects of the files, otherwise everything',
    meaning: 'Plan only this Depot.',
  },
  output: {
    ...outputOption,
    value: outputFormat('text', 'json', 'markdown'),
    meaning: 'Output format: text, json, or markdown (for a comment on a pull request).',
  },
  apiGroup,
  archives: {
    ...archives,
    meaning:
      'Root folder of archives on the file system, as the controller has it. Depot does not read it.',
  },
  ...fetching,
  ...policyOptions,
  spoolDir: {
    flag: spoolDir.flag,
    value: spoolDir.value,
    meaning: 'Directory for cached lists of upstream versions.',
    otherwise: 'a subfolder of the folder for temporary files',
  },
  logLevel: { ...logOptions.logLevel, default: 'error' },
  logFormat: logOptions.logFormat,
})

/** Says what a sync would do, without writing. */
export const planCommand = {
  program: 'depot plan',
  operands: '[FILE…]',
  operandsOptional: true,
  summary:
    'Shows what a sync would fetch, create, change, hold and remove, and writes nothing. Files are compared with the records of a folder or cluster. Exit status: 0 without changes, 2 with changes, 1 if something failed.',
  examples: [
    'depot plan --manifests registry',
    'depot plan new-depot.yaml --manifests registry -o markdown',
    'depot plan depots --kubeconfig ~/.kube/config',
    'depot plan --depot platform/public --kubeconfig ~/.kube/config -o json',
  ],
  options,
  groups: {
    manifests: 'Records',
    output: 'Output',
    apiGroup: 'Limits and upstreams',
    githubSecretName: fetchingGroups.githubSecretName,
    logLevel: 'Log',
  },
  rules: [apart('manifests', 'kubeconfig', 'manifests take the place of a cluster')],
} satisfies Command<typeof options>

export type PlanCommandOptions = Options<typeof options>
