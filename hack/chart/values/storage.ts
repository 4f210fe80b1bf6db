import {
  bool,
  choice,
  className,
  folder,
  matching,
  objectName,
  size,
  strings,
  type Value,
} from '../value.ts'

export const accessModes = ['ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod', 'ReadOnlyMany']

export const storageValues: readonly Value[] = [
  bool('storage.filesystem.enabled', false, 'Serve archives from a volume.'),
  folder('storage.filesystem.mountPath', '/data/modules', 'Mount path of the volume.'),
  size('storage.filesystem.size', '10Gi', 'Size of the claim.'),
  className(
    'storage.filesystem.storageClassName',
    '',
    'Storage class of the claim. Empty: the default class. `-`: none. An existing claim keeps its own.',
  ),
  choice(
    'storage.filesystem.accessMode',
    'ReadWriteMany',
    accessModes,
    'Access mode of the claim. An existing claim keeps its own.',
  ),
  objectName('storage.filesystem.existingClaim', '', 'Name of an existing claim.'),
  matching(
    'storage.filesystem.hostPath',
    '',
    '^(/.*)?$',
    'A folder of the node, which must belong to user 65532.',
  ),
  bool(
    'storage.filesystem.singleNode',
    false,
    'Keep all pods on one node, which ReadWriteOnce and hostPath need.',
  ),
  strings('storage.filesystem.annotations', {}, 'Annotations of the claim.'),
]
