import { logLevels } from '../../../pkg/base/options/options.ts'
import {
  bool,
  choice,
  className,
  duration,
  folder,
  integer,
  items,
  matching,
  objectName,
  shape,
  size,
  type Value,
} from '../value.ts'
import { image, ociRepositoryPattern, quantities, serviceAccount } from './pods.ts'
import { variable, variableSource } from './shapes.ts'

export const scanningValues: readonly Value[] = [
  bool(
    'scanning.enabled',
    false,
    'Run `depot scanner` with Trivy, which writes findings into Versions. Node selector, tolerations and security contexts are those of the server.',
  ),
  bool('scanning.providerScanning', true, 'Scan providers too, not only modules.'),
  bool(
    'scanning.offline',
    true,
    'Scan with the databases in the cache, without network. False: Trivy downloads what it lacks.',
  ),
  bool(
    'scanning.blockOnCritical',
    false,
    'Quarantine versions with findings of the severity CRITICAL, unless the `scanPolicy` of their config decides.',
  ),
  bool(
    'scanning.blockOnHigh',
    false,
    'Quarantine versions with findings of the severity HIGH or CRITICAL, unless the `scanPolicy` of their config decides.',
  ),
  choice('scanning.logLevel', 'info', logLevels, 'Minimum log level.'),
  integer('scanning.slots', 1, 'How many archives to scan concurrently.', {
    minimum: 1,
    maximum: 99,
  }),
  duration('scanning.deadline', '10m', 'Maximum time of one scan.'),
  duration('scanning.rescanInterval', '24h', 'Minimum time between two scans of the same archive.'),
  size(
    'scanning.workSize',
    '20Gi',
    'Disk space for scans. For each slot, plan the largest archive plus two unpacked copies. Archives get a fifth of it.',
  ),
  folder('scanning.cacheMountPath', '/var/cache/trivy', 'Mount path of the databases of Trivy.'),
  size('scanning.cache.size', '2Gi', 'Size of the claim for the databases.'),
  className(
    'scanning.cache.storageClassName',
    '',
    'Storage class of the claim. Empty: the default class. `-`: none.',
  ),
  choice(
    'scanning.cache.accessMode',
    'ReadWriteMany',
    ['ReadWriteMany', 'ReadWriteOnce'],
    'Access mode of the claim. ReadWriteOnce keeps the pods that mount it on one node.',
  ),
  objectName(
    'scanning.cache.existingClaim',
    '',
    'Name of an existing claim for the databases. Empty: the chart creates one.',
  ),
  bool(
    'scanning.dbUpdater.enabled',
    true,
    'Download the vulnerability database with the release, and then on a schedule. Without `providerScanning`, nothing needs it.',
  ),
  matching(
    'scanning.dbUpdater.schedule',
    '47 */12 * * *',
    '^(@[a-z]+|\\S+( \\S+){4})$',
    'Cron schedule of the downloads.',
  ),
  matching(
    'scanning.dbUpdater.repository',
    '',
    ociRepositoryPattern,
    'OCI repository of the database with its tag, such as a mirror, without `https://`. Empty: the default of Trivy.',
  ),
  items(
    'scanning.dbUpdater.extraEnv',
    [],
    variable,
    'Environment variables of the download, such as a proxy or credentials of the registry.',
  ),
  items(
    'scanning.dbUpdater.extraEnvFrom',
    [],
    variableSource,
    'Secrets and ConfigMaps whose keys become environment variables of the download.',
  ),
  items(
    'scanning.dbUpdater.extraEgress',
    [],
    { type: 'object' },
    'Egress rules of the download with `networkPolicy.enabled`, such as one to a mirror on another port than 443.',
  ),
  ...image('scanning', { repository: '', tag: '' }),
  quantities('scanning.resources', {
    requests: { cpu: '100m', memory: '512Mi' },
    limits: { memory: '4Gi' },
  }),
  {
    name: 'scanning.seccompProfile',
    schema: shape({
      type: { enum: ['RuntimeDefault', 'Localhost', 'Unconfined'] },
      localhostProfile: { type: 'string' },
    }),
    default: {},
    meaning:
      'Seccomp profile of the pods. Empty: that of `server.podSecurityContext`. With one that allows `unshare`, Trivy runs in an empty network namespace.',
  },
  items(
    'scanning.extraEnv',
    [],
    variable,
    'Environment variables, such as credentials of storage.',
  ),
  items(
    'scanning.extraEnvFrom',
    [],
    variableSource,
    'Secrets and ConfigMaps whose keys become environment variables.',
  ),
  items(
    'scanning.extraEgress',
    [],
    { type: 'object' },
    'Egress rules of the scanner with `networkPolicy.enabled`, such as those to the storage. Without rules, it only reaches the API server.',
  ),
  ...serviceAccount('scanning'),
]
