import {
  bool,
  hostPattern,
  hosts,
  integer,
  items,
  list,
  map,
  networks,
  type Schema,
  shape,
  share,
  strings,
  text,
  type Value,
} from '../value.ts'

const host: Schema = { type: 'string', pattern: hostPattern }
const path = shape(
  {
    path: { type: 'string', pattern: '^/' },
    pathType: { enum: ['Prefix', 'Exact', 'ImplementationSpecific'] },
  },
  ['path'],
)
const tls = shape({ hosts: { type: 'array', items: host }, secretName: { type: 'string' } })
const rule = shape({ host, paths: { type: 'array', items: path } }, ['host'])

export const ingress = (c: string): Value[] => [
  bool(`${c}.ingress.enabled`, false, 'Create an Ingress.'),
  text(`${c}.ingress.className`, '', 'Ingress class.'),
  strings(`${c}.ingress.annotations`, {}, 'Annotations of the Ingress.'),
  items(
    `${c}.ingress.hosts`,
    [],
    rule,
    'List of `{host, paths: [{path, pathType}]}`. Without paths: `/`.',
  ),
  items(`${c}.ingress.tls`, [], tls, 'List of `{hosts, secretName}`.'),
]

export const route = (c: string): Value[] => [
  bool(`${c}.route.enabled`, false, 'Create an HTTPRoute of the Gateway API.'),
  list(`${c}.route.parentRefs`, [], 'Gateways that the route belongs to.'),
  hosts(`${c}.route.hostnames`, [], 'Host names.'),
  strings(`${c}.route.annotations`, {}, 'Annotations of the HTTPRoute.'),
]

export const autoscaling = (c: string): Value[] => [
  bool(
    `${c}.autoscaling.enabled`,
    false,
    'Create a HorizontalPodAutoscaler. `replicaCount` is then ignored.',
  ),
  integer(`${c}.autoscaling.minReplicas`, 2, 'Minimum number of pods.', { minimum: 1 }),
  integer(`${c}.autoscaling.maxReplicas`, 6, 'Maximum number of pods.', { minimum: 1 }),
  integer(
    `${c}.autoscaling.targetCPUUtilizationPercentage`,
    70,
    'Target CPU utilization, in percent of the request.',
    { minimum: 1 },
  ),
  map(`${c}.autoscaling.behavior`, {}, 'Scaling behavior of the autoscaler.'),
]

export const disruptionBudget = (c: string): Value[] => [
  bool(`${c}.podDisruptionBudget.enabled`, false, 'Create a PodDisruptionBudget.'),
  share(
    `${c}.podDisruptionBudget.minAvailable`,
    '',
    'Pods that must stay available, as a number or percent.',
  ),
  share(
    `${c}.podDisruptionBudget.maxUnavailable`,
    '',
    'Pods that can be unavailable at once. Both empty: 1.',
  ),
]

export const networkPolicyValues: readonly Value[] = [
  bool(
    'networkPolicy.enabled',
    false,
    'Create network policies for server, explorer, controller and broker.',
  ),
  list(
    'networkPolicy.ingressFrom',
    [],
    'Peers that can connect to server and explorer. Empty: any.',
  ),
  list('networkPolicy.monitoringFrom', [], 'Peers that can scrape metrics. Empty: any.'),
  list(
    'networkPolicy.extraEgress',
    [],
    'Additional egress rules, such as for storage on another port.',
  ),
  networks(
    'networkPolicy.apiServerCIDRs',
    [],
    'Addresses of the API server. Empty: any, on ports 443 and 6443.',
  ),
]
