import { bool, integer, matching, objectName, size, text, type Value } from '../value.ts'
import { serviceAccount } from './pods.ts'

export const backupValues: readonly Value[] = [
  bool(
    'backup.enabled',
    false,
    'Run `depot backup` on a schedule. Image, node selector and security contexts are those of the server.',
  ),
  matching(
    'backup.schedule',
    '17 2 * * *',
    '^(@[a-z]+|\\S+( \\S+){4})$',
    'Cron schedule of the backups.',
  ),
  integer('backup.keep', 14, 'Number of backups to keep.', { minimum: 1, maximum: 9999 }),
  integer(
    'backup.maxAgeHours',
    26,
    'Age of the last backup at which an alert fires: more than the interval of the schedule.',
    { minimum: 1 },
  ),
  objectName(
    'backup.existingClaim',
    '',
    'Name of an existing claim for the backups. Empty: the chart creates one, and keeps it when the release is uninstalled.',
  ),
  size('backup.size', '1Gi', 'Size of the claim. A backup has about 3 KB per Version.'),
  text('backup.storageClassName', '', 'Storage class of the claim. Empty: the default class.'),
  ...serviceAccount('backup'),
]
