import { bool, integer, list, map, quantity, text, texts, type Value } from '../value.ts'
import { pods, serviceAccount } from './pods.ts'

/** The names are fixed before the controller exists, so that values need no change when it comes. */
export const controllerValues: readonly Value[] = [
  bool('controller.enabled', true, 'Run the controller. Renders nothing yet.'),
  ...pods({
    component: 'controller',
    user: 65532,
    resources: { requests: { cpu: '100m', memory: '512Mi' }, limits: { memory: '4Gi' } },
    terminationGracePeriodSeconds: 40,
  }),
  ...serviceAccount('controller'),
  integer('controller.concurrency', 4, 'How many objects are worked on at once.', { minimum: 1 }),
  text('controller.logLevel', 'info', 'Least level that is logged.'),
  text('controller.github.secretName', '', 'Secret with credentials for GitHub.'),
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
