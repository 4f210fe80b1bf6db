import { bool, choice, items, labels, list, matching, strings, type Value } from '../value.ts'
import { repositoryPattern } from './pods.ts'
import { pullSecret } from './shapes.ts'

export const globalValues: readonly Value[] = [
  matching(
    'global.namespace',
    '',
    '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$',
    'Namespace of all objects. Empty: the namespace of the release.',
  ),
  choice(
    'global.imagePullPolicy',
    'IfNotPresent',
    ['IfNotPresent', 'Always', 'Never'],
    'Pull policy of all images.',
  ),
  items(
    'global.imagePullSecrets',
    [],
    pullSecret,
    'Secrets for pulling images, as names or `{name: ...}`.',
  ),
  matching(
    'global.image.registry',
    'ghcr.io',
    repositoryPattern,
    'Registry of the image. It can be empty.',
  ),
  matching(
    'global.image.repository',
    'depot/depot',
    repositoryPattern,
    'Name of the image. Server, controller and explorer share one image; that of the controller has git in addition.',
  ),
  matching(
    'global.image.tag',
    '',
    '^([A-Za-z0-9_][-A-Za-z0-9_.]{0,123})?$',
    'Tag of the image. Empty: the appVersion of the chart. The controller uses it with `-git`, and the scanner with `-scanning`.',
  ),
  matching(
    'global.image.digest',
    '',
    '^(sha256:[0-9a-f]{64})?$',
    '`sha256:` and 64 hexadecimal digits. Takes precedence over the tag. `controller.image.digest` names that of the image with git; without it, the controller uses this one and has no git.',
  ),
  matching(
    'global.clusterDomain',
    'cluster.local',
    '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$',
    'DNS domain of the cluster, for addresses inside the cluster.',
  ),
  matching(
    'nameOverride',
    '',
    '^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$',
    'Replaces `depot` in names.',
  ),
  matching(
    'fullnameOverride',
    '',
    '^([a-z]([-a-z0-9]{0,41}[a-z0-9])?)?$',
    'Replaces the whole prefix of names.',
  ),
  labels('commonLabels', {}, 'Labels of every object.'),
  strings('commonAnnotations', {}, 'Annotations of every object.'),
  matching(
    'apiGroup',
    'depot.internal',
    '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$',
    'API group of the custom resources, and of the RBAC rules for them.',
  ),
  bool('crds.install', true, 'Install and upgrade the custom resource definitions.'),
  bool('crds.keep', true, 'Keep definitions and records when the release is uninstalled.'),
  bool('rbac.create', true, 'Create roles and bindings.'),
  bool(
    'rbac.scopeToNamespace',
    false,
    'Read only the namespace of the release, with Roles instead of ClusterRoles.',
  ),
  bool(
    'rbac.aggregate',
    true,
    'Aggregate the roles for callers to the ClusterRoles `view` and `edit`.',
  ),
  bool('serviceAccount.create', true, 'Create service accounts.'),
  strings('serviceAccount.annotations', {}, 'Annotations of every service account.'),
  bool(
    'serviceAccount.automount',
    true,
    'Mount the token of the account for components that call the API server.',
  ),
  list(
    'extraObjects',
    [],
    'Additional manifests, as objects or text. Templates in them are rendered.',
  ),
]
