import * as z from 'zod'
import { apart, needs } from './rules.ts'
import { serverCommand } from './server.ts'
import { type Command, flagged, type Options } from './table.ts'
import { countTo, name, namespaces, path, toggle } from './values.ts'

const { apiGroup, kubeconfig, namespace } = serverCommand.options

const connection = {
  kubeconfig: { ...kubeconfig, meaning: 'Kubeconfig of the cluster.' },
  apiGroup,
}

const backupOptions = flagged({
  ...connection,
  namespaces: {
    value: namespaces,
    otherwise: 'all',
    meaning: 'Save the resources of these namespaces only.',
  },
  out: {
    value: path,
    otherwise: 'standard output',
    meaning: 'File for the backup, which is replaced.',
  },
  dir: {
    value: path,
    meaning: 'Folder for backups, which are named by time. Old ones are removed.',
  },
  keep: {
    value: countTo(9999),
    default: '14',
    meaning: 'How many backups to keep in `--dir`.',
  },
  leaseName: {
    value: name,
    otherwise: 'none',
    meaning:
      'Existing Lease in `--namespace` that gets the time of the backup, for the metric of the controller.',
  },
  namespace: { ...namespace, meaning: 'Namespace of the Lease.' },
})

/** Saves the records of a cluster. */
export const backupCommand = {
  program: 'depot backup',
  summary:
    'Saves the records of a cluster as YAML, with their statuses, READMEs, and the labels of their namespaces. Archives and Secrets are not part of it.',
  examples: [
    'depot backup --kubeconfig ~/.kube/config --out backup.yaml',
    'depot backup --dir backups --keep 30',
  ],
  options: backupOptions,
  rules: [
    apart('out', 'dir', 'each says where the backup goes'),
    needs('keep', ['dir']),
    needs('namespace', ['leaseName']),
  ],
} satisfies Command<typeof backupOptions>

export type BackupCommandOptions = Options<typeof backupOptions>

const restoreOptions = flagged({
  ...connection,
  dryRun: toggle('Ask the API server about each object, and change nothing.'),
  mapGroup: {
    value: z
      .string()
      .regex(/^[^=]+=[^=]+$/, 'is not a pair of API groups: write OLD=NEW')
      .transform((pair) => pair.split('='))
      .meta({ title: 'OLD=NEW' }),
    meaning: 'API group of the backup, and the one that its records get.',
  },
})

/** Brings the records of a backup back. */
export const restoreCommand = {
  program: 'depot restore',
  operands: 'FILE',
  summary:
    'Restores a backup into a cluster, statuses included. FILE is a backup, a folder of backups (the newest is used), or - for standard input. To serve withdrawn versions again, use depot activate. Exit status: 1 if an object failed.',
  examples: [
    'depot restore backup.yaml --kubeconfig ~/.kube/config --dry-run',
    'depot restore backups --map-group old.example.com=depot.internal',
  ],
  options: restoreOptions,
} satisfies Command<typeof restoreOptions>

export type RestoreCommandOptions = Options<typeof restoreOptions>
