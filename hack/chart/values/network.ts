import {
  bool,
  integer,
  items,
  list,
  map,
  type Schema,
  shape,
  share,
  text,
  texts,
  type Value,
} from '../value.ts'

const string: Schema = { type: 'string' }
const path = shape(
  {
    path: { type: 'string', pattern: '^/' },
    pathType: { enum: ['Prefix', 'Exact', 'ImplementationSpecific'] },
  },
  ['path'],
)
const host = shape({ host: string, paths: { type: 'array', items: path } }, ['host'])

export const ingress = (c: string): Value[] => [
  bool(`${c}.ingress.enabled`, false, 'Make an Ingress.'),
  text(`${c}.ingress.className`, '', 'Ingress class.'),
  map(`${c}.ingress.annotations`, {}, 'Annotations of the Ingress.'),
  items(
    `${c}.ingress.hosts`,
    [],
    host,
    'List of `{host, paths: [{path, pathType}]}`; without paths: `/`.',
  ),
  list(`${c}.ingress.tls`, [], 'List of `{hosts, secretName}`.'),
]

export const route = (c: string): Value[] => [
  bool(`${c}.route.enabled`, false, 'Make an HTTPRoute of the Gateway API.'),
  list(`${c}.route.parentRefs`, [], 'Gateways that the route belongs to.'),
  texts(`${c}.route.hostnames`, [], 'Host names.'),
  map(`${c}.route.annotations`, {}, 'Annotations of the HTTPRoute.'),
]

export const autoscaling = (c: string): Value[] => [
  bool(
    `${c}.autoscaling.enabled`,
    false,
    'Make a HorizontalPodAutoscaler; `replicaCount` is ignored.',
  ),
  integer(`${c}.autoscaling.minReplicas`, 2, 'Least number of pods.', { minimum: 1 }),
  integer(`${c}.autoscaling.maxReplicas`, 6, 'Greatest number of pods.', { minimum: 1 }),
  integer(
    `${c}.autoscaling.targetCPUUtilizationPercentage`,
    70,
    'Percent of the requested CPU that is aimed at.',
    { minimum: 1 },
  ),
  map(`${c}.autoscaling.behavior`, {}, 'How fast to scale up and down.'),
]

export const disruptionBudget = (c: string): Value[] => [
  bool(`${c}.podDisruptionBudget.enabled`, false, 'Make a PodDisruptionBudget.'),
  share(
    `${c}.podDisruptionBudget.minAvailable`,
    '',
    'Pods that must stay, as a number or percent.',
  ),
  share(`${c}.podDisruptionBudget.maxUnavailable`, '', 'Pods that may go at once; both empty: 1.'),
]

export const networkPolicyValues: readonly Value[] = [
  bool('networkPolicy.enabled', false, 'Make network policies for server, explorer and broker.'),
  list('networkPolicy.ingressFrom', [], 'Peers that may reach server and explorer; empty: any.'),
  list('networkPolicy.monitoringFrom', [], 'Peers that may scrape metrics; empty: any.'),
  list('networkPolicy.extraEgress', [], 'Rules of egress to add, such as storage on another port.'),
  texts(
    'networkPolicy.apiServerCIDRs',
    [],
    'Addresses of the API server; empty: any, on ports 443 and 6443.',
  ),
]
