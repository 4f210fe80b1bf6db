import { bool, choice, labels, list, matching, strings, text, type Value } from '../value.ts'

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
  list('global.imagePullSecrets', [], 'Secrets for pulling images, as names or `{name: ...}`.'),
  text('global.image.registry', 'ghcr.io', 'Registry of the image. It can be empty.'),
  text(
    'global.image.repository',
    'depot/depot',
    'Name of the image. Server, controller and explorer share one image.',
  ),
  text('global.image.tag', '', 'Tag of the image. Empty: the appVersion of the chart.'),
  matching(
    'global.image.digest',
    '',
    '^(sha256:[0-9a-f]{64})?$',
    '`sha256:` and 64 hexadecimal digits. Takes precedence over the tag.',
  ),
  text(
    'global.clusterDomain',
    'cluster.local',
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
    'API group of the custom resources, also in RBAC rules.',
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
