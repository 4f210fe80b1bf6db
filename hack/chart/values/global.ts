import { bool, choice, list, map, matching, text, type Value } from '../value.ts'

export const globalValues: readonly Value[] = [
  matching(
    'global.namespace',
    '',
    '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$',
    "Namespace of all objects; empty: the release's.",
  ),
  choice(
    'global.imagePullPolicy',
    'IfNotPresent',
    ['IfNotPresent', 'Always', 'Never'],
    'When images are pulled.',
  ),
  list('global.imagePullSecrets', [], 'Secrets for pulling, as names or `{name: ...}`.'),
  text('global.image.registry', 'ghcr.io', 'Registry of the image; may be empty.'),
  text('global.image.repository', 'depot/depot', 'Name of the image: server and explorer are one.'),
  text('global.image.tag', '', "Tag; empty: the chart's appVersion."),
  matching(
    'global.image.digest',
    '',
    '^(sha256:[0-9a-f]{64})?$',
    '`sha256:` and 64 hexadecimal digits; wins over the tag.',
  ),
  text('global.clusterDomain', 'cluster.local', 'Used in every address inside the cluster.'),
  text('nameOverride', '', 'Takes the place of `depot` in names.'),
  text('fullnameOverride', '', 'Takes the place of the whole prefix of names.'),
  map('commonLabels', {}, 'Labels of every object.'),
  map('commonAnnotations', {}, 'Annotations of every object.'),
  matching(
    'apiGroup',
    'depot.internal',
    '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$',
    'API group of the custom resources, in RBAC rules too.',
  ),
  bool('crds.install', true, 'Install the custom resource definitions, and upgrade them.'),
  bool('crds.keep', true, 'Keep them, and the records with them, when the release is uninstalled.'),
  bool('rbac.create', true, 'Make roles and bindings.'),
  bool(
    'rbac.scopeToNamespace',
    false,
    'Read the namespace of the release only: Roles instead of ClusterRoles.',
  ),
  bool(
    'rbac.aggregate',
    true,
    'Add the roles for callers to the roles `view` and `edit` of the cluster.',
  ),
  bool('serviceAccount.create', true, 'Make service accounts.'),
  map('serviceAccount.annotations', {}, 'Annotations of every service account.'),
  bool(
    'serviceAccount.automount',
    true,
    'Mount the token of the account where a component talks to the API server.',
  ),
  list('extraObjects', [], 'Manifests to add, as objects or text; templates in them are rendered.'),
]
