import { bool, choice, className, matching, objectName, size, type Value } from '../value.ts'
import { pods } from './pods.ts'
import { aclUsers } from './shapes.ts'
import { accessModes } from './storage.ts'

export const valkeyValues: readonly Value[] = [
  bool('valkey.enabled', true, 'Run Valkey, which counts downloads for all replicas.'),
  matching(
    'valkey.fullnameOverride',
    '',
    '^([a-z]([-a-z0-9]{0,49}[a-z0-9])?)?$',
    'Name of the objects of Valkey.',
  ),
  ...pods({
    component: 'valkey',
    user: 1000,
    image: {
      repository: 'docker.io/valkey/valkey',
      tag: '9.1.0',
      digest: 'sha256:8e8d64b405ce18f41b8e5ee20aa4687a8ed0022d1298f2ce31cdcf3a76e09411',
    },
    resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '384Mi' } },
    terminationGracePeriodSeconds: 30,
  }),
  bool('valkey.auth.enabled', false, 'Require a password.'),
  objectName(
    'valkey.auth.usersExistingSecret',
    '',
    'Secret with one key per user, named like the user: `default` and the names in `aclUsers`.',
  ),
  {
    name: 'valkey.auth.aclUsers',
    schema: aclUsers,
    default: { default: { permissions: '~* &* +@all' } },
    meaning: 'Users and their permissions.',
  },
  choice(
    'valkey.appendfsync',
    'always',
    ['always', 'everysec', 'no'],
    'When Valkey writes its log to disk. `always` keeps every counted download.',
  ),
  matching(
    'valkey.maxmemory',
    '192mb',
    '^[0-9]+([kmg]b?)?$',
    'Memory for data: half of the memory limit.',
  ),
  bool(
    'valkey.dataStorage.enabled',
    true,
    'Keep data in a claim. False: data is lost with the pod.',
  ),
  objectName(
    'valkey.dataStorage.existingClaim',
    '',
    'Name of an existing claim. Empty: the chart creates one.',
  ),
  size(
    'valkey.dataStorage.requestedSize',
    '1Gi',
    'Size of the claim. An upgrade can increase it, if the storage class allows that.',
  ),
  className(
    'valkey.dataStorage.className',
    '',
    'Storage class of the claim. Empty: the default class.',
  ),
  {
    name: 'valkey.dataStorage.accessModes',
    schema: { type: 'array', items: { enum: accessModes }, minItems: 1 },
    default: ['ReadWriteOnce'],
    meaning: 'Access modes of the claim. An existing claim keeps its own.',
  },
  bool('valkey.dataStorage.keepPvc', true, 'Keep the claim when the release is uninstalled.'),
  bool(
    'valkey.networkPolicy.enabled',
    true,
    'Accept connections from the pods of the server only.',
  ),
]
