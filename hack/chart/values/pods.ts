import {
  bool,
  bytesSchema,
  choice,
  integer,
  items,
  labels,
  map,
  matching,
  objectName,
  quantitySchema,
  type Schema,
  shape,
  strings,
  texts,
  type Value,
} from '../value.ts'
import {
  container,
  containerPort,
  dnsConfig,
  hostAlias,
  probes,
  spreadConstraint,
  toleration,
  variable,
  variableSource,
  volume,
  volumeMount,
} from './shapes.ts'

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

/** Kubernetes has few resources without a domain. */
const resources: Schema = {
  type: 'object',
  properties: { cpu: quantitySchema, memory: bytesSchema, 'ephemeral-storage': bytesSchema },
  patternProperties: { '^hugepages-': bytesSchema, '/': quantitySchema },
  additionalProperties: false,
}

export const quantities = (name: string, initial: Readonly<Record<string, unknown>>): Value => ({
  name,
  schema: shape({ requests: resources, limits: resources, claims: { type: 'array' } }),
  default: initial,
  meaning: 'Requests and limits of the container.',
})

export const repositoryPattern = '^([a-z0-9]+(([._-]+|(:[0-9]+)?/)[a-z0-9]+)*(:[0-9]+)?)?$'
/** A repository with its registry, and a tag or digest. */
export const ociRepositoryPattern =
  '^([a-z0-9]+([._:-][a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)+(:[A-Za-z0-9_][-A-Za-z0-9_.]{0,127})?(@sha256:[0-9a-f]{64})?)?$'
export const tagPattern = '^([A-Za-z0-9_][-A-Za-z0-9_.]{0,127}(@sha256:[0-9a-f]{64})?)?$'

const ownTag = new Map([
  ['controller', '`global.image.tag` with `-git`, the image that has git'],
  ['scanning', '`global.image.tag` with `-scanning`, the image that has Trivy'],
])

export function image(component: string, { repository, tag, digest = '' }: Image): Value[] {
  const ours = repository === ''
  return [
    matching(
      `${component}.image.repository`,
      repository,
      repositoryPattern,
      ours ? 'Image with registry, without tag. Empty: `global.image`.' : 'Image without tag.',
    ),
    // The digest is part of the tag, so that a user who sets another tag gets that tag.
    matching(
      `${component}.image.tag`,
      [tag, digest].filter((part) => part !== '').join('@'),
      tagPattern,
      ours
        ? `Tag of the image. Empty: ${ownTag.get(component) ?? '`global.image.tag`'}.`
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
    items(`${c}.tolerations`, [], toleration, 'Tolerations of the pods.'),
    map(`${c}.affinity`, {}, 'Affinity of the pods.'),
    spread(c, of.topologySpread),
    objectName(`${c}.priorityClassName`, '', 'Priority class of the pods.'),
    objectName(`${c}.runtimeClassName`, '', 'Runtime class of the pods.'),
    objectName(`${c}.schedulerName`, '', 'Scheduler of the pods. Empty: the default one.'),
    choice(
      `${c}.dnsPolicy`,
      'ClusterFirst',
      ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'],
      'DNS policy of the pods.',
    ),
    {
      name: `${c}.dnsConfig`,
      schema: dnsConfig,
      default: {},
      meaning: 'Name servers, search domains and options of the pods.',
    },
    strings(
      `${c}.deploymentAnnotations`,
      {},
      'Annotations of the Deployment or StatefulSet, such as `reloader.stakater.com/auto`.',
    ),
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
    return items(
      `${c}.topologySpreadConstraints`,
      [],
      spreadConstraint,
      'Topology spread constraints of the pods.',
    )
  }
  return {
    name: `${c}.topologySpreadConstraints`,
    schema: { anyOf: [{ const: 'auto' }, { type: 'array', items: spreadConstraint }] },
    default: auto,
    meaning: '`auto`: over nodes and zones, if possible. Otherwise a list of constraints.',
  }
}

function extras(c: string): Value[] {
  const rows: readonly (readonly [key: string, item: Schema, meaning: string])[] = [
    [
      'extraEnvFrom',
      variableSource,
      'Secrets and ConfigMaps whose keys become environment variables.',
    ],
    ['extraVolumes', volume, 'Additional volumes of the pods.'],
    ['extraVolumeMounts', volumeMount, 'Additional volume mounts of the container.'],
    ['extraContainers', container, 'Additional containers of the pods.'],
    ['initContainers', container, 'Init containers of the pods.'],
    ['extraPorts', containerPort, 'Additional ports of the container.'],
    ['hostAliases', hostAlias, 'Entries of /etc/hosts.'],
  ]
  return [
    items(
      `${c}.extraEnv`,
      [],
      variable,
      'Additional environment variables. The chart refuses those that it sets itself.',
    ),
    texts(
      `${c}.extraArgs`,
      [],
      'Additional arguments. The chart refuses those that it sets itself.',
    ),
    ...rows.map(([key, item, meaning]) => items(`${c}.${key}`, [], item, meaning)),
    map(
      `${c}.lifecycle`,
      {},
      'Hooks of the container. Empty: five seconds of sleep before SIGTERM, if the component serves requests.',
    ),
  ]
}

export const probesOf = (c: string): Value => ({
  name: `${c}.probes`,
  schema: probes,
  default: {
    startup: { periodSeconds: 2, failureThreshold: 30 },
    readiness: { periodSeconds: 5, failureThreshold: 2 },
    liveness: { periodSeconds: 10, failureThreshold: 3 },
  },
  meaning: 'Fields of the probes. The chart sets their addresses.',
})

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
