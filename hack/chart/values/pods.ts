import {
  bool,
  integer,
  items,
  labels,
  list,
  map,
  matching,
  objectName,
  quantity,
  type Schema,
  strings,
  text,
  type Value,
} from '../value.ts'

/** `make image-lock` writes digests. */
interface Image {
  readonly repository: string
  readonly tag: string
  readonly digest?: string
}

/** Defaults for the pods of one component. */
export interface PodDefaults {
  readonly component: string
  readonly resources: Readonly<Record<string, unknown>>
  readonly image?: Image
  readonly user: number
  readonly terminationGracePeriodSeconds: number
  readonly replicaCount?: number
  readonly topologySpread?: 'auto'
}

const quantities = (name: string, initial: Readonly<Record<string, unknown>>): Value => ({
  name,
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      requests: { type: 'object', additionalProperties: quantity('', '', '').schema },
      limits: { type: 'object', additionalProperties: quantity('', '', '').schema },
      claims: { type: 'array' },
    },
  },
  default: initial,
  meaning: 'Requests and limits of the container.',
})

export function image(component: string, { repository, tag, digest = '' }: Image): Value[] {
  const ours = repository === ''
  return [
    text(
      `${component}.image.repository`,
      repository,
      ours ? 'Image with registry, without tag. Empty: `global.image`.' : 'Image without tag.',
    ),
    // The digest is part of the tag, so that a user who sets another tag gets that one.
    text(
      `${component}.image.tag`,
      [tag, digest].filter((part) => part !== '').join('@'),
      ours
        ? 'Tag of the image. Empty: `global.image.tag`.'
        : 'Tag of the image, with its digest if that is known.',
    ),
    matching(
      `${component}.image.digest`,
      '',
      '^(sha256:[0-9a-f]{64})?$',
      '`sha256:` and 64 hexadecimal digits. Takes precedence over the tag.',
    ),
  ]
}

export function pods(of: PodDefaults): Value[] {
  const { component: c } = of
  return [
    integer(`${c}.replicaCount`, of.replicaCount ?? 1, 'Number of pods.'),
    ...image(c, of.image ?? { repository: '', tag: '' }),
    quantities(`${c}.resources`, of.resources),
    labels(`${c}.nodeSelector`, {}, 'Labels that a node must have.'),
    list(`${c}.tolerations`, [], 'Tolerations of the pods.'),
    map(`${c}.affinity`, {}, 'Affinity of the pods.'),
    spread(c, of.topologySpread),
    objectName(`${c}.priorityClassName`, '', 'Priority class of the pods.'),
    strings(`${c}.podAnnotations`, {}, 'Annotations of the pods.'),
    labels(`${c}.podLabels`, {}, 'Labels of the pods.'),
    map(
      `${c}.podSecurityContext`,
      {
        runAsNonRoot: true,
        runAsUser: of.user,
        runAsGroup: of.user,
        fsGroup: of.user,
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      },
      'Security context of the pods.',
    ),
    map(
      `${c}.securityContext`,
      {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      'Security context of the container.',
    ),
    integer(
      `${c}.terminationGracePeriodSeconds`,
      of.terminationGracePeriodSeconds,
      'Seconds until a terminating pod is killed.',
    ),
    integer(`${c}.revisionHistoryLimit`, 5, 'Number of old revisions to keep for a rollback.'),
    ...extras(c),
  ]
}

function spread(c: string, auto?: 'auto'): Value {
  if (auto === undefined) {
    return list(`${c}.topologySpreadConstraints`, [], 'Topology spread constraints of the pods.')
  }
  return {
    name: `${c}.topologySpreadConstraints`,
    schema: { anyOf: [{ const: 'auto' }, { type: 'array' }] },
    default: auto,
    meaning: '`auto`: over nodes and zones, if possible. Otherwise a list of constraints.',
  }
}

/** The API server refuses a number as the value of a variable. */
const variable: Schema = {
  type: 'object',
  properties: { name: { type: 'string' }, value: { type: 'string' } },
  required: ['name'],
}

function extras(c: string): Value[] {
  const rows: readonly (readonly [key: string, meaning: string])[] = [
    ['extraArgs', 'Additional arguments. Those that the chart sets are refused.'],
    ['extraEnvFrom', 'Secrets and ConfigMaps whose keys become environment variables.'],
    ['extraVolumes', 'Additional volumes of the pods.'],
    ['extraVolumeMounts', 'Additional volume mounts of the container.'],
    ['extraContainers', 'Additional containers of the pods.'],
    ['initContainers', 'Init containers of the pods.'],
    ['extraPorts', 'Additional ports of the container.'],
    ['hostAliases', 'Entries of /etc/hosts.'],
  ]
  return [
    items(
      `${c}.extraEnv`,
      [],
      variable,
      'Additional environment variables. Those that the chart sets are refused.',
    ),
    ...rows.map(([key, meaning]) => list(`${c}.${key}`, [], meaning)),
    map(
      `${c}.lifecycle`,
      {},
      'Hooks of the container. Empty: five seconds of sleep before SIGTERM, if the component serves requests.',
    ),
  ]
}

export function serviceAccount(c: string): Value[] {
  return [
    bool(
      `${c}.serviceAccount.create`,
      true,
      'Create the service account. `serviceAccount.create` must be true too.',
    ),
    objectName(
      `${c}.serviceAccount.name`,
      '',
      'Name of the service account. Empty: the name of the component.',
    ),
    strings(
      `${c}.serviceAccount.annotations`,
      {},
      'Annotations of the service account, such as `eks.amazonaws.com/role-arn` or `iam.gke.io/gcp-service-account`.',
    ),
    labels(`${c}.serviceAccount.labels`, {}, 'Labels of the service account.'),
  ]
}
