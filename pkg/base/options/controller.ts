import * as z from 'zod'
import { fetchingOptions, upkeepOptions } from './fetching.ts'
import { serverCommand } from './server.ts'
import type { Command, Options, OptionTable, SecretTable } from './table.ts'
import {
  durationMs,
  listenAddress,
  name,
  namespace,
  namespaces,
  onOff,
  storageGrants,
} from './values.ts'
import { storageVariables } from './variables.ts'

const { apiGroup, kubeconfig, logLevel } = serverCommand.options

const options = {
  adminListen: {
    flag: 'admin-listen',
    value: listenAddress,
    default: ':9090',
    meaning: 'Address of `/metrics`, `/livez` and `/readyz`.',
  },
  apiGroup,
  kubeconfig: { ...kubeconfig, meaning: 'Kubeconfig of the access to the cluster.' },
  watchNamespaces: {
    flag: 'watch-namespaces',
    value: namespaces,
    otherwise: 'all',
    meaning: 'Work on the resources of these namespaces only.',
  },
  namespace: {
    flag: 'namespace',
    value: namespace,
    default: 'depot-system',
    platformVariable: 'POD_NAMESPACE',
    meaning: 'Namespace of the Lease by which one of several controllers is the one that works.',
  },
  leaseName: {
    flag: 'lease-name',
    value: name,
    default: 'depot-controller',
    meaning: 'Name of that Lease.',
  },
  concurrency: {
    flag: 'concurrency',
    value: z
      .string()
      .regex(/^[1-9]\d{0,2}$/, 'is no number: write 1 to 999')
      .transform(Number)
      .meta({ title: 'COUNT' }),
    default: '4',
    meaning: 'How many Modules, Providers and Versions, of each, are worked on at once.',
  },
  ...fetchingOptions,
  storageGrants: {
    flag: 'storage-grants',
    value: storageGrants,
    otherwise: 'every place for every namespace',
    meaning:
      'Places of storage that archives of namespaces may be stored in and removed from, such as `team-a=s3://bucket/team-a`, beside those of the annotation `{api_group}/storage` of Namespaces. Where some namespaces are not watched, archives are removed only from places that this option grants to watched ones alone.',
  },
  requireStorageGrants: {
    flag: 'require-storage-grants',
    value: onOff,
    default: 'false',
    meaning:
      'Store and remove archives only in places that the annotation `{api_group}/storage` of their Namespace grants. `--storage-grants` switches it on.',
  },
  ...upkeepOptions,
  sweepDelete: {
    flag: 'sweep-delete',
    value: onOff,
    default: 'false',
    meaning:
      'Remove stored archives that no Version refers to once they are a day old, instead of only counting them. Only where no other cluster uses the same places.',
  },
  shutdownGracePeriodMs: {
    flag: 'shutdown-grace-period',
    value: durationMs({ least: '0', most: '24h' }),
    default: '20s',
    meaning: 'How long what runs may take to end after SIGTERM.',
  },
  logLevel,
} satisfies OptionTable

/** Fills the registry of a cluster. */
export const controllerCommand = {
  program: 'depot controller',
  summary:
    'Fetches, verifies and stores what the Depots, Modules and Providers of a cluster ask for.',
  options,
  secrets: {},
  variables: storageVariables,
  rules: [],
} satisfies Command<typeof options, SecretTable>

export type ControllerCommandOptions = Options<typeof options>
