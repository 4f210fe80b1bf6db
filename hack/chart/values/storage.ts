import { bool, choice, map, quantity, text, type Value } from '../value.ts'

export const storageValues: readonly Value[] = [
  bool('storage.filesystem.enabled', false, 'Serve archives of a volume.'),
  text('storage.filesystem.mountPath', '/data/modules', 'Where it is mounted.'),
  quantity('storage.filesystem.size', '10Gi', 'Size of the claim.'),
  text('storage.filesystem.storageClassName', '', 'Its class; empty: the default; `-`: none.'),
  choice(
    'storage.filesystem.accessMode',
    'ReadWriteMany',
    ['ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod', 'ReadOnlyMany'],
    'How the claim may be mounted.',
  ),
  text('storage.filesystem.existingClaim', '', 'A claim of your own.'),
  text('storage.filesystem.hostPath', '', 'A folder of the node, which must belong to user 65532.'),
  bool(
    'storage.filesystem.singleNode',
    false,
    'Keep all pods on one node, so that ReadWriteOnce or hostPath will do.',
  ),
  map('storage.filesystem.annotations', {}, 'Annotations of the claim.'),
]
