import { bool, integer, list, map, port, quantity, text, texts, type Value } from '../value.ts'
import { pods, serviceAccount } from './pods.ts'

export const controllerValues: readonly Value[] = [
  bool(
    'controller.enabled',
    false,
    'Run the controller, which fetches, verifies and stores what Depots, Modules and Providers ask for.',
  ),
  ...pods({
    component: 'controller',
    user: 65532,
    resources: { requests: { cpu: '100m', memory: '512Mi' }, limits: { memory: '4Gi' } },
    terminationGracePeriodSeconds: 40,
  }),
  ...serviceAccount('controller'),
  integer('controller.concurrency', 4, 'How many objects are worked on at once.', { minimum: 1 }),
  text('controller.logLevel', 'info', 'Least level that is logged.'),
  port('controller.adminPort', 9090, 'Port of metrics and probes.'),
  text(
    'controller.github.secretName',
    '',
    'Secret with credentials for GitHub, in each namespace that has one; empty: `depot-github`.',
  ),
  texts(
    'controller.secretNames',
    [],
    'Names of the Secrets that the controller may read; empty: each that a resource of its namespace names.',
  ),
  quantity('controller.spool.size', '10Gi', 'Room for archives on their way to storage.'),
  text(
    'controller.spool.storageClassName',
    '',
    "Class of a volume that lives as long as the pod; empty: the node's disk.",
  ),
  texts(
    'controller.upstreamHosts',
    [],
    'Registries that modules and providers may come from, the first being the default; empty: that of the controller.',
  ),
  texts(
    'controller.sourceHosts',
    [],
    'Hosts of sources; empty: github.com and those that serve its archives.',
  ),
  texts('controller.egress.allow', [], 'Other hosts that sources may be on.'),
  texts(
    'controller.egress.privateCidrs',
    [],
    'Networks that are not public and may be reached, where the host is named too.',
  ),
  bool(
    'controller.egress.publicDownloads',
    true,
    'Fetch what a registry names from any public host by HTTPS.',
  ),
  bool('scanning.enabled', false, 'Scan archives.'),
  bool('scanning.providerScanning', false, 'Scan the binaries of providers too.'),
  bool('scanning.offline', false, 'Never fetch a database.'),
  bool('scanning.blockOnCritical', false, 'Do not serve what has a critical finding.'),
  bool('scanning.blockOnHigh', false, 'Do not serve what has a high finding.'),
  text('scanning.cacheMountPath', '/var/cache/trivy', 'Where the database is.'),
  bool('scanning.cache.enabled', false, 'Keep the database in a claim.'),
  quantity('scanning.cache.size', '2Gi', 'Size of the claim.'),
  text('scanning.cache.storageClassName', '', 'Its class; empty: the default.'),
  texts('scanning.cache.accessModes', ['ReadWriteOnce'], 'How it may be mounted.'),
  bool('scanning.dbUpdater.enabled', false, 'Refresh the database on a schedule.'),
  text('scanning.dbUpdater.schedule', '0 */6 * * *', 'Schedule of cron.'),
  map('scanning.dbUpdater.resources', {}, 'Requests and limits.'),
  list('scanning.dbUpdater.extraArgs', [], 'Arguments to add.'),
]
