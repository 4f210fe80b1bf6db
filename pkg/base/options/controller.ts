import {
  fetchingGroups,
  fetchingOptions,
  policyOptions,
  sourceOptions,
  upkeepOptions,
} from './fetching.ts'
import { logOptions } from './printing.ts'
import { apart, distinctAddresses, needs, together } from './rules.ts'
import { serverCommand } from './server.ts'
import { type Command, flagged, type Options, type Secrets } from './table.ts'
import { webhookUrl } from './urls.ts'
import {
  countTo,
  durationMs,
  listenAddress,
  name,
  namespace,
  namespaces,
  storageGrants,
  template,
  toggle,
} from './values.ts'
import { storageVariables } from './variables.ts'

const {
  apiGroup,
  kubeconfig,
  useBearerToken,
  oidcIssuerUrl,
  oidcClientId,
  oidcGroupsClaim,
  oidcUiClientId,
  oidcAllowSaFallback,
  oidcAllowClientCredentials,
  publishIssuers,
  brokerProxyUrl,
  passthroughCacheTtlMs,
} = serverCommand.options

const options = flagged({
  listen: {
    value: listenAddress,
    otherwise: 'none: nobody publishes over HTTP',
    meaning:
      'Address for requests that servers forward: publications and webhooks. It is the `--sync-url` of `depot server`.',
  },
  adminListen: {
    value: listenAddress,
    default: ':9090',
    meaning: 'Address of `/metrics`, `/livez` and `/readyz`.',
  },
  apiGroup,
  kubeconfig: {
    ...kubeconfig,
    meaning: 'Kubeconfig with which the controller accesses the cluster.',
  },
  watchNamespaces: {
    value: namespaces,
    otherwise: 'all',
    meaning: 'Work on the resources of these namespaces only.',
  },
  namespace: {
    value: namespace,
    default: 'depot-system',
    platformVariable: 'POD_NAMESPACE',
    meaning: 'Namespace of the Lease that elects the active controller.',
  },
  useBearerToken,
  oidcIssuerUrl,
  oidcClientId,
  oidcGroupsClaim,
  oidcUiClientId,
  oidcAllowSaFallback,
  oidcAllowClientCredentials,
  publishIssuers,
  brokerProxyUrl: {
    ...brokerProxyUrl,
    meaning:
      'Address of the OIDC broker inside the cluster, where Depot fetches its keys. HTTPS, or HTTP on this machine and inside the cluster.',
  },
  passthroughCacheTtlMs,
  publishTemplate: {
    value: template,
    otherwise: 'none: nobody publishes to a missing Module',
    meaning:
      'Template for Modules that do not exist when a caller publishes to them. Depot copies its `moduleConfig`, without the source. NAME is in the namespace of the new Module.',
  },
  leaseName: {
    value: name,
    default: 'depot-controller',
    meaning: 'Name of the Lease.',
  },
  backupLease: {
    value: name,
    otherwise: 'none',
    meaning:
      'Lease in `--namespace` that has the time of the last `depot backup`, for the metric `depot_backup_last_success_timestamp_seconds`.',
  },
  concurrency: {
    value: countTo(999),
    default: '4',
    meaning: 'How many Modules, how many Providers and how many Versions to work on concurrently.',
  },
  ...fetchingOptions,
  ...policyOptions,
  ...sourceOptions,
  storageGrants: {
    value: storageGrants,
    otherwise: 'every location for every namespace',
    meaning:
      'Storage locations where archives of namespaces can be stored and removed, such as `team-a=s3://bucket/team-a`, in addition to the annotation `{api_group}/storage` of Namespaces. If some namespaces are not watched, archives are removed only from locations that this option grants to watched namespaces alone.',
  },
  requireStorageGrants: toggle(
    'Store and remove archives only in locations that the annotation `{api_group}/storage` of their Namespace grants. `--storage-grants` enables it too.',
  ),
  ...upkeepOptions,
  sweepDelete: toggle(
    'Remove stored archives that no Version refers to and that are a day old, instead of only counting them. Use it only if no other cluster uses the same locations.',
  ),
  shutdownGracePeriodMs: {
    value: durationMs({ least: '0', most: '24h' }),
    default: '20s',
    meaning: 'How long running work can take to finish after SIGTERM.',
  },
  eventsWebhook: {
    value: webhookUrl,
    otherwise: 'none',
    meaning:
      'URL that receives a signed CloudEvent for every version that is served, withdrawn or has new `CRITICAL` findings. HTTPS. Its host needs no `--egress-allow`.',
  },
  ...logOptions,
})

const oidcOptions = [
  'oidcGroupsClaim',
  'oidcUiClientId',
  'oidcAllowSaFallback',
  'oidcAllowClientCredentials',
  'brokerProxyUrl',
] as const

const secrets = {
  eventsWebhookKey: {
    variable: 'DEPOT_EVENTS_WEBHOOK_KEY',
    meaning: 'Key that signs what is sent to `--events-webhook`. At least 24 characters.',
  },
}

/** Fills the registry of a cluster. */
export const controllerCommand = {
  program: 'depot controller',
  summary: 'Fetches, verifies and stores the versions that the resources in a cluster name.',
  examples: [
    'depot controller --kubeconfig ~/.kube/config --archives archives --spool-dir spool',
    'depot controller --watch-namespaces platform,data --require-storage-grants',
  ],
  options,
  groups: {
    listen: 'Process',
    apiGroup: 'Records',
    useBearerToken: 'Callers who publish, as the server identifies them',
    leaseName: 'Work',
    archives: 'Archives',
    ...fetchingGroups,
    storageGrants: 'Where archives can be stored',
    verifyIntervalMs: 'Stored archives',
    shutdownGracePeriodMs: 'End and log',
  },
  secrets,
  variables: storageVariables,
  rules: [
    distinctAddresses('listen', 'adminListen'),
    together('oidcIssuerUrl', 'oidcClientId'),
    apart('useBearerToken', 'oidcIssuerUrl', 'there is one authentication mode'),
    ...(
      [
        'useBearerToken',
        'oidcIssuerUrl',
        'publishIssuers',
        'passthroughCacheTtlMs',
        'publishTemplate',
      ] as const
    ).map((option) => needs(option, ['listen'])),
    ...oidcOptions.map((option) => needs(option, ['oidcIssuerUrl'])),
  ],
} satisfies Command<typeof options, typeof secrets>

export type ControllerCommandOptions = Options<typeof options>
export type ControllerCommandSecrets = Secrets<typeof secrets>
