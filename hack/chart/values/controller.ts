import { structuralSchema, UpstreamPolicy } from '../../../pkg/api/v1alpha1/v1alpha1.ts'
import { logLevels } from '../../../pkg/base/options/options.ts'
import {
  bool,
  choice,
  duration,
  integer,
  matching,
  names,
  networks,
  objectName,
  port,
  size,
  storageGrants,
  text,
  texts,
  type Value,
} from '../value.ts'
import { pods, probesOf, serviceAccount } from './pods.ts'

export const controllerValues: readonly Value[] = [
  bool(
    'controller.enabled',
    true,
    'Run the controller, which fetches, verifies and stores the versions that Depots, Modules and Providers ask for. False: something else writes Versions and their statuses.',
  ),
  ...pods({
    component: 'controller',
    user: 65532,
    resources: { requests: { cpu: '100m', memory: '512Mi' }, limits: { memory: '4Gi' } },
    terminationGracePeriodSeconds: 40,
  }),
  ...serviceAccount('controller'),
  integer('controller.concurrency', 4, 'Number of objects to work on concurrently.', {
    minimum: 1,
  }),
  choice('controller.logLevel', 'info', logLevels, 'Minimum log level.'),
  port('controller.port', 8080, 'Port on which servers forward what callers publish.'),
  port('controller.adminPort', 9090, 'Port of metrics and probes.'),
  objectName(
    'controller.github.secretName',
    '',
    'Default name of the Secret with credentials for GitHub, in the namespace of each resource. Empty: `depot-github`.',
  ),
  text(
    'controller.github.apiUrl',
    '',
    'Default address of the GitHub API, such as that of GitHub Enterprise.',
  ),
  names(
    'controller.secretNames',
    [],
    'Names of the Secrets that the controller can read. Empty: every Secret that a resource in the same namespace names.',
  ),
  names(
    'controller.secretNamespaces',
    [],
    'Existing namespaces in which the controller can read Secrets with credentials of sources. Empty: its own. `*`: every namespace.',
  ),
  size('controller.spool.size', '10Gi', 'Space for archives in transit to storage.'),
  objectName(
    'controller.spool.storageClassName',
    '',
    'Storage class of a volume that exists as long as the pod. Empty: the disk of the node.',
  ),
  texts(
    'controller.upstreamHosts',
    [],
    'Registries from which modules and providers can come; the first is the default. Empty: the default of the controller.',
  ),
  texts(
    'controller.sourceHosts',
    [],
    'Hosts of sources. Empty: github.com and the hosts that serve its archives.',
  ),
  texts('controller.egress.allow', [], 'Additional hosts that sources can be on.'),
  networks(
    'controller.egress.privateCidrs',
    [],
    'Private networks that can be contacted, for hosts that are named too.',
  ),
  objectName(
    'controller.egress.caSecretName',
    '',
    'Secret with additional certificate authorities for upstreams in `ca.crt`.',
  ),
  {
    name: 'controller.upstreamPolicy',
    schema: { ...structuralSchema(UpstreamPolicy), additionalProperties: false },
    default: {},
    meaning:
      'Policy for versions that Depots bring in, with the fields of `spec.policy` of a Depot. Depots can only make it stricter. Its `deny` also quarantines versions of Modules and Providers that no Depot created. A change takes effect within two minutes, without a restart.',
  },
  matching(
    'controller.events.url',
    '',
    '^(https://[^\\s]+)?$',
    'URL that receives signed CloudEvents about new, withdrawn and vulnerable versions. Empty: none.',
  ),
  objectName(
    'controller.events.secretName',
    '',
    'Secret with the key that signs events in `key`, of at least 24 characters. Required with `controller.events.url`.',
  ),
  bool(
    'controller.egress.publicDownloads',
    true,
    'Fetch archives that a registry refers to from any public host by HTTPS.',
  ),
  storageGrants(
    'controller.storageGrants',
    [],
    '`NAMESPACE=URL` pairs, with globs: storage locations for the archives of a namespace. Empty: every location.',
  ),
  matching(
    'controller.publishTemplate',
    '',
    '^(([a-z0-9-]+/)?[a-z0-9.-]+)?$',
    'Module, as `NAME` or `NAMESPACE/NAME`, whose config is the template when a caller publishes to a missing Module. Empty: no Module is created.',
  ),
  bool(
    'controller.requireStorageGrants',
    false,
    'Store archives only in locations that the annotation `{apiGroup}/storage` of their Namespace grants. `controller.storageGrants` enables it too.',
  ),
  bool(
    'controller.sweepDelete',
    false,
    'Remove stored archives that no Version refers to, instead of only counting them.',
  ),
  size('controller.limits.moduleSize', '100Mi', 'Maximum archive size of a module.'),
  size('controller.limits.moduleUnpacked', '500Mi', 'Maximum unpacked size of a module.'),
  size(
    'controller.limits.providerSize',
    '2Gi',
    'Maximum archive size of a provider for one platform.',
  ),
  size(
    'controller.limits.providerUnpacked',
    '4Gi',
    'Maximum unpacked size of a provider for one platform.',
  ),
  duration('controller.verifyInterval', '24h', 'How often to check that a stored archive exists.'),
  duration(
    'controller.rehashInterval',
    '720h',
    'How often to read and hash each stored archive completely.',
  ),
  duration(
    'controller.removalGrace',
    '24h',
    'How long to keep an archive in storage after the last Version that names it.',
  ),
  duration(
    'controller.shutdownGracePeriod',
    '20s',
    'How long running work can take to finish after SIGTERM.',
  ),
  probesOf('controller'),
]
