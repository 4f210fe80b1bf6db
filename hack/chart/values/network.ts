import {
  bool,
  choice,
  hostPattern,
  integer,
  items,
  labels,
  list,
  map,
  matching,
  networks,
  objectName,
  port,
  qualifiedName,
  type Schema,
  shape,
  share,
  strings,
  type Value,
} from '../value.ts'
import { networkPeer, parentRef, routeFilter } from './shapes.ts'

/** Unlike Istio, an Ingress and an HTTPRoute do not accept `*`. */
const host: Schema = { type: 'string', pattern: hostPattern, not: { const: '*' } }
const path = shape(
  {
    path: { type: 'string', pattern: '^/' },
    pathType: { enum: ['Prefix', 'Exact', 'ImplementationSpecific'] },
  },
  ['path'],
)
const secretName: Schema = { type: 'string', pattern: '^([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?)?$' }
const tls = shape({ hosts: { type: 'array', items: host }, secretName })
const rule = shape({ host, paths: { type: 'array', items: path } }, ['host'])

const families = { type: 'array', items: { enum: ['IPv4', 'IPv6'] }, uniqueItems: true }

export const service = (c: string): Value[] => [
  choice(
    `${c}.service.type`,
    'ClusterIP',
    ['ClusterIP', 'NodePort', 'LoadBalancer'],
    'Type of the Service.',
  ),
  port(`${c}.service.port`, 80, 'Port of the Service.'),
  integer(
    `${c}.service.nodePort`,
    0,
    'Port on every node, with type NodePort or LoadBalancer. 0: any free port.',
    { minimum: 0, maximum: 65535 },
  ),
  strings(`${c}.service.annotations`, {}, 'Annotations of the Service.'),
  labels(`${c}.service.labels`, {}, 'Labels of the Service.'),
  choice(
    `${c}.service.externalTrafficPolicy`,
    '',
    ['', 'Cluster', 'Local'],
    'With type NodePort or LoadBalancer: `Local` keeps the addresses of clients. Empty: Cluster.',
  ),
  choice(
    `${c}.service.ipFamilyPolicy`,
    '',
    ['', 'SingleStack', 'PreferDualStack', 'RequireDualStack'],
    'IP families of the Service. Empty: the default of the cluster.',
  ),
  {
    name: `${c}.service.ipFamilies`,
    schema: families,
    default: [],
    meaning: '`IPv4` and `IPv6`, the first one first. Empty: the default of the cluster.',
  },
  matching(
    `${c}.service.loadBalancerIP`,
    '',
    '^[0-9a-fA-F.:]*$',
    'Address of the load balancer, if the cluster supports that.',
  ),
  matching(
    `${c}.service.loadBalancerClass`,
    '',
    `^(${qualifiedName})?$`,
    'Class of the load balancer. An existing Service keeps its own.',
  ),
  networks(
    `${c}.service.loadBalancerSourceRanges`,
    [],
    'Client networks that the load balancer accepts.',
  ),
]

export const ingress = (c: string): Value[] => [
  bool(`${c}.ingress.enabled`, false, 'Create an Ingress.'),
  objectName(`${c}.ingress.className`, '', 'Ingress class.'),
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
  items(`${c}.route.parentRefs`, [], parentRef, 'Gateways that the route belongs to.'),
  items(`${c}.route.hostnames`, [], host, 'Host names.'),
  items(`${c}.route.filters`, [], routeFilter, 'Filters of every rule, such as response headers.'),
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
  items(
    'networkPolicy.ingressFrom',
    [],
    networkPeer,
    'Peers that can connect to server and explorer. Empty: any.',
  ),
  items(
    'networkPolicy.monitoringFrom',
    [],
    networkPeer,
    'Peers that can scrape metrics. Empty: any.',
  ),
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
