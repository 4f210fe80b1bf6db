import { expect } from 'vitest'
import type { Values } from './helm.fixture.ts'

const publishIssuers = [
  { alias: 'ci', issuer: 'https://ci.example.com', audience: 'https://depot', claims: ['sub'] },
]
/** OIDC with another provider. */
export const oidc = (more: object): Values => ({
  server: { oidc: { enabled: true, issuerUrl: 'https://id.example.com', ...more } },
})
const proxied = (more: object, broker: object = {}): Values => ({
  broker: { enabled: true, ...broker },
  server: {
    oidc: {
      enabled: true,
      clientSecretName: 'c',
      issuerUrl: 'https://depot.example.com/broker',
      brokerProxy: { enabled: true },
      ...more,
    },
  },
})
const ui = (more: object, server: object = {}): Values => ({
  ui: { enabled: true, sessionPasswordSecretName: 's', ...more },
  server,
})
const login = (more: object, base: object = { baseUrl: 'https://depot.example.com' }): Values =>
  ui(
    { ...base, oidc: { enabled: true, clientSecretName: 'u', ...more } },
    { oidc: { enabled: true, issuerUrl: 'https://id.example.com' } },
  )

const filesystem = (more: object, values: object = {}): Values => ({
  ...values,
  storage: { filesystem: { enabled: true, ...more } },
})

const prefer =
  'V01 server.oidc.clientSecret or server.oidc.clientSecretName is required when broker.enabled and server.oidc.enabled are true; prefer clientSecretName (Secret with key clientSecret)'
const counters =
  'V20 download counts would be in one SQLite file per pod, and each replica would show different numbers; enable valkey, set server.stats.valkeyAddr, or use one replica'

/** Values that contradict each other, with the message of the render. */
export const cases: readonly (readonly [what: string, values: Values, message: string])[] = [
  ['V01', { broker: { enabled: true }, server: { oidc: { enabled: true } } }, prefer],
  [
    'V02',
    oidc({ issuerUrl: 'https://id.example.com/broker', brokerProxy: { enabled: true } }),
    'V02 server.oidc.brokerProxy.enabled proxies only the bundled broker, and the issuer "https://id.example.com/broker" is external; set brokerProxy.enabled=false or broker.enabled=true',
  ],
  [
    'V03',
    proxied({ enabled: false }),
    'V03 server.oidc.brokerProxy.enabled needs server.oidc.enabled=true',
  ],
  [
    'V04',
    proxied({ issuerUrl: '' }),
    'V04 server.oidc.issuerUrl must be the external URL of the broker, for example https://depot.example.com/broker',
  ],
  [
    'V05',
    proxied({}, { config: { issuer: 'https://depot.example.com/broker/' } }),
    'V05 broker.config.issuer "https://depot.example.com/broker/" and server.oidc.issuerUrl "https://depot.example.com/broker" must be exactly equal (a trailing slash counts)',
  ],
  [
    'V06',
    proxied({ issuerUrl: 'https://depot.example.com/dex' }),
    'V06 the path of server.oidc.issuerUrl must be /broker, because the server proxies /broker/* unchanged',
  ],
  [
    'V07',
    oidc({ issuerUrl: '' }),
    'V07 server.oidc.issuerUrl is required without the bundled broker',
  ],
  ...(
    [
      'http://id.example.com',
      'http://127.0.0.1.example.com',
      'http://depot.svc.evil.example',
      'id.example.com',
      'https://',
      'https:// id',
      'https://user@id.example.com',
      'http://[::1',
    ] as const
  ).map(
    (url) =>
      [
        `V08 ${url}`,
        oidc({ issuerUrl: url }),
        `V08 server.oidc.issuerUrl "${url}" must use https; http is allowed only for 127.0.0.1, localhost and in-cluster names`,
      ] as const,
  ),
  [
    'V08 of the explorer',
    login({ issuerUrl: 'http://id.example.com' }),
    'V08 ui.oidc.issuerUrl "http://id.example.com" must use https; http is allowed only for 127.0.0.1, localhost and in-cluster names',
  ],
  ['V09', oidc({ clientId: '' }), 'V09 server.oidc.clientId is required'],
  [
    'V10',
    { server: { ...(oidc({})['server'] as object), useBearerToken: true } },
    'V10 OIDC and bearer-token modes are mutually exclusive; set server.useBearerToken=false, and server.oidc.allowServiceAccountFallback=true if service accounts still need access',
  ],
  [
    'V11',
    { server: { anonymousAuth: true, useBearerToken: true } },
    'V11 server.anonymousAuth and server.useBearerToken are mutually exclusive',
  ],
  [
    'V12 fallback',
    { server: { oidc: { allowServiceAccountFallback: true } } },
    'V12 server.oidc.allowServiceAccountFallback needs server.oidc.enabled=true',
  ],
  [
    'V12 client credentials',
    { server: { oidc: { allowClientCredentials: true } } },
    'V12 server.oidc.allowClientCredentials needs server.oidc.enabled=true',
  ],
  [
    'V12 consumer groups',
    { server: { oidc: { consumerGroups: 'team-*' } } },
    'V12 server.oidc.consumerGroups needs server.oidc.enabled=true',
  ],
  [
    'V12 consumer persons',
    { server: { oidc: { consumerPersons: true } } },
    'V12 server.oidc.consumerPersons needs server.oidc.enabled=true',
  ],
  [
    'V12 publish issuers',
    { server: { anonymousAuth: true, publishIssuers } },
    'V12 server.publishIssuers has no effect with server.anonymousAuth alone, because such a server takes no tokens; set server.oidc.enabled=true or server.anonymousAuth=false',
  ],
  [
    'V13 authorization',
    oidc({ authzUrl: 'ftp://id/auth' }),
    'V13 server.oidc.authzUrl "ftp://id/auth" is not a well-formed http or https URL',
  ],
  [
    'V13 token',
    oidc({ tokenUrl: 'https:///token' }),
    'V13 server.oidc.tokenUrl "https:///token" is not a well-formed http or https URL',
  ],
  [
    'V13 of the explorer',
    login({ authzUrl: '%%' }),
    'V13 ui.oidc.authzUrl "%%" is not a well-formed http or https URL',
  ],
  [
    'V14',
    { ui: { enabled: true } },
    'V14 ui.sessionPasswordSecretName is required: a Secret whose key sessionPassword holds at least 32 characters',
  ],
  ['V15', ui({}, { enabled: false }), 'V15 the UI needs server.enabled=true or ui.serverHost'],
  [
    'V16 mode',
    ui({ baseUrl: 'https://depot.example.com', oidc: { enabled: true, clientSecretName: 'u' } }),
    'V16 ui.oidc.enabled needs server.oidc.enabled=true',
  ],
  [
    'V16 secret',
    login({ clientSecretName: '' }),
    'V16 ui.oidc.clientSecretName is required (Secret with key clientSecret)',
  ],
  ['V16 base URL', login({}, {}), 'V16 ui.baseUrl is required, because redirect URIs contain it'],
  ['V16 scopes', login({ scopes: 'email openidx' }), 'V16 ui.oidc.scopes must contain openid'],
  ...['auth', '/depot/auth', '/broker', '/.well-known/x'].map(
    (path) =>
      [
        `V16 callback ${path}`,
        login({ callbackPath: path }),
        `V16 ui.oidc.callbackPath "${path}" must start with / and stay outside /depot, /broker and /.well-known`,
      ] as const,
  ),
  [
    'V16 scopes of the server',
    oidc({ scopes: ['email'] }),
    'V16 server.oidc.scopes must contain openid',
  ],
  [
    'V17',
    login({ clientId: 'depot' }),
    "V17 ui.oidc.clientId must differ from server.oidc.clientId: the CLI's client is public, the UI's is not",
  ],
  ...['ftp://x', 'https://x?y', 'https://x/y#z', 'https://a@x', 'x'].map(
    (url) =>
      [
        `V18 ${url}`,
        { server: { baseUrl: url } },
        `V18 server.baseUrl "${url}" must be an http or https URL without credentials, query and fragment`,
      ] as const,
  ),
  [
    'V18 of the explorer',
    ui({ baseUrl: 'https://x/y' }),
    'V18 ui.baseUrl must be scheme, host and port only',
  ],
  [
    'V19 no host',
    { server: { ingress: { enabled: true } } },
    'V19 server.ingress.hosts must not be empty',
  ],
  [
    'V19 twice',
    { server: { ingress: { enabled: true, hosts: [{ host: 'a' }, { host: 'a' }] } } },
    'V19 server.ingress lists host "a" twice',
  ],
  ...['/depot', '/depot/x', '/.well-known', '/broker/auth'].map(
    (path) =>
      [
        `V19 ${path}`,
        ui({ ingress: { enabled: true, hosts: [{ host: 'a', paths: [{ path }] }] } }),
        `V19 ui.ingress path "${path}" belongs to the server; remove it, the chart adds it`,
      ] as const,
  ),
  [
    'V19 route',
    { server: { route: { enabled: true, hostnames: ['a'] } } },
    'V19 server.route.parentRefs must not be empty',
  ],
  [
    'V19 gateway',
    { server: { ingress: { istio: { enabled: true, hosts: ['a'] } } } },
    'V19 server.ingress.istio.gateway must not be empty',
  ],
  [
    'V19 certificate of another host',
    {
      server: {
        ingress: { enabled: true, hosts: [{ host: 'a.x' }], tls: [{ hosts: ['*.x', 'b.x'] }] },
      },
    },
    'V19 server.ingress.tls names host "b.x", which is not in server.ingress.hosts',
  ],
  [
    'V19 another host than the base URL',
    ui({ baseUrl: 'https://a.x:8443', ingress: { enabled: true, hosts: [{ host: 'b.x' }] } }),
    'V19 the host of ui.baseUrl, "a.x", is in no enabled ingress or route of the explorer (b.x)',
  ],
  ['V20 replicas', { valkey: { enabled: false }, server: { replicaCount: 2 } }, counters],
  [
    'V20 scaling',
    { valkey: { enabled: false }, server: { autoscaling: { enabled: true } } },
    counters,
  ],
  [
    'V21',
    { server: { stats: { valkeyAddr: 'valkey:6379' } } },
    'V21 use the bundled valkey or server.stats.valkeyAddr, not both (valkey.enabled=false)',
  ],
  [
    'V22 password',
    { valkey: { auth: { enabled: true } } },
    'V22 valkey.auth.usersExistingSecret is required (Secret with key default)',
  ],
  [
    'V22 pods',
    { valkey: { replicaCount: 3 } },
    'V22 the bundled valkey runs one pod; for more, set server.stats.valkeyAddr',
  ],
  [
    'V22 memory',
    { valkey: { maxmemory: '400mb' } },
    'V22 valkey.maxmemory=400mb is above valkey.resources.limits.memory=384Mi; use half of the limit',
  ],
  [
    'V23 several pods',
    filesystem({ accessMode: 'ReadWriteOnce' }, { server: { replicaCount: 2 } }),
    'V23 storage.filesystem.accessMode=ReadWriteOnce cannot be shared by 3 pods on several nodes; use ReadWriteMany or singleNode=true',
  ],
  [
    'V23 a folder of one node',
    filesystem({ hostPath: '/srv' }),
    'V23 storage.filesystem.hostPath is a folder of one node and cannot be shared by 2 pods on several nodes; use singleNode=true, or a claim with ReadWriteMany',
  ],
  [
    'V23 one pod',
    filesystem({ accessMode: 'ReadWriteOncePod', singleNode: true }),
    'V23 storage.filesystem.accessMode=ReadWriteOncePod cannot be shared by 2 pods on several nodes; use ReadWriteMany or singleNode=true',
  ],
  [
    'V23 nothing can be stored',
    filesystem({ accessMode: 'ReadOnlyMany' }),
    'V23 storage.filesystem.accessMode=ReadOnlyMany does not let the controller store archives; use ReadWriteMany or controller.enabled=false',
  ],
  [
    'V23 one claim of several servers',
    {
      server: {
        replicaCount: 2,
        stats: { persistence: { enabled: true, existingClaim: 'counts' } },
      },
    },
    'V23 server.stats.persistence.existingClaim is one claim and cannot be shared by 2 servers; use one replica, or claims of the chart',
  ],
  [
    'V23 two places',
    filesystem({ hostPath: '/srv', existingClaim: 'c' }),
    'V23 set only one of storage.filesystem.hostPath and storage.filesystem.existingClaim',
  ],
  [
    'V24',
    { server: { tls: { enabled: true } } },
    'V24 server.tls.secretName is required (Secret of type kubernetes.io/tls), or enable server.tls.certManager',
  ],
  [
    'V24 cert-manager without TLS',
    { server: { tls: { certManager: { enabled: true, issuerRef: { name: 'x' } } } } },
    'V24 server.tls.certManager.enabled needs server.tls.enabled=true',
  ],
  [
    'V24 issuer',
    { server: { tls: { enabled: true, certManager: { enabled: true } } } },
    'V24 server.tls.certManager.issuerRef.name is required: the Issuer or ClusterIssuer that signs the certificate',
  ],
  [
    'V24 two folders',
    { server: { tls: { enabled: true, secretName: 's', keyPath: '/etc/keys/tls.key' } } },
    'V24 server.tls.certPath and server.tls.keyPath must be in the same folder, "/etc/tls/tls.crt" and "/etc/keys/tls.key" are not',
  ],
  [
    'V24 no folder',
    {
      server: {
        tls: { enabled: true, secretName: 's', certPath: '/tls.crt', keyPath: '/tls.key' },
      },
    },
    'V24 server.tls.certPath=/tls.crt must be in a folder of its own, such as /etc/tls',
  ],
  [
    'V24 renewal',
    { server: { tls: { certManager: { duration: '24h', renewBefore: '36h' } } } },
    'V24 server.tls.certManager.renewBefore=36h must be shorter than the duration, 24h',
  ],
  [
    'V25 variable',
    { server: { extraEnv: [{ name: 'NODE_OPTIONS', value: 'x' }] } },
    'V25 server.extraEnv sets NODE_OPTIONS, which the chart sets from server.resources.limits.memory',
  ],
  [
    'V25 variable of an option',
    { server: { extraEnv: [{ name: 'DEPOT_ANONYMOUS_AUTH', value: 'true' }] } },
    'V25 server.extraEnv sets DEPOT_ANONYMOUS_AUTH, which the chart sets from server.anonymousAuth',
  ],
  [
    'V25 flag',
    { server: { extraArgs: ['--log-level=debug'] } },
    'V25 server.extraArgs sets --log-level, which the chart sets from server.logLevel',
  ],
  [
    'V25 volume',
    { server: { extraVolumes: [{ name: 'tmp', emptyDir: {} }] } },
    'V25 server.extraVolumes sets tmp, which the chart sets from the read-only root file system',
  ],
  [
    'V25 path',
    { server: { extraVolumeMounts: [{ name: 'x', mountPath: '/var/lib/depot' }] } },
    'V25 server.extraVolumeMounts sets /var/lib/depot, which the chart sets from server.stats.persistence.enabled',
  ],
  [
    'V25 folder of the chart',
    filesystem({ mountPath: '/tmp' }),
    'V25 storage.filesystem.mountPath sets /tmp, which the chart sets from the read-only root file system',
  ],
  [
    'V25 folder of the scanner',
    { scanning: { enabled: true, cacheMountPath: '/tmp' } },
    'V25 scanning.cacheMountPath sets /tmp, which the chart sets from the read-only root file system',
  ],
  [
    'V25 variable of the scanner',
    { scanning: { enabled: true, extraEnv: [{ name: 'DEPOT_BLOCK', value: 'HIGH' }] } },
    'V25 scanning.extraEnv sets DEPOT_BLOCK, which the chart sets from scanning.blockOnCritical',
  ],
  [
    'V25 folder of a certificate',
    {
      server: {
        tls: { enabled: true, secretName: 's', certPath: '/tmp/tls.crt', keyPath: '/tmp/tls.key' },
      },
    },
    'V25 server.tls.certPath sets /tmp, which the chart sets from the read-only root file system',
  ],
  [
    'V25 no volume',
    { controller: { extraVolumeMounts: [{ name: 'cache', mountPath: '/cache' }] } },
    'V25 controller.extraVolumeMounts names the volume cache, which is not in controller.extraVolumes',
  ],
  ...(
    [
      ['extraEnv', { name: 'A', value: 'b' }, 'A'],
      ['extraVolumes', { name: 'a', emptyDir: {} }, 'a'],
      ['extraVolumeMounts', { name: 'a', mountPath: '/a' }, '/a'],
      ['extraContainers', { name: 'a', image: 'a' }, 'a'],
      ['extraPorts', { containerPort: 9000 }, '9000'],
    ] as const
  ).map(
    ([key, item, shown]) =>
      [
        `V25 ${key} twice`,
        { server: { [key]: [item, item] } },
        `V25 server.${key} lists ${shown} twice`,
      ] as const,
  ),
  [
    'V25 container',
    { broker: { enabled: true, initContainers: [{ name: 'broker', image: 'a' }] } },
    'V25 broker.initContainers sets broker, which the chart sets from the main container',
  ],
  [
    'V25 port',
    { ui: { enabled: true, extraPorts: [{ name: 'web', containerPort: 3000 }] } },
    'V25 ui.extraPorts sets 3000, which the chart sets from its own port',
  ],
  [
    'V25 name of a port',
    { controller: { extraPorts: [{ name: 'admin', containerPort: 3000 }] } },
    'V25 controller.extraPorts sets admin, which the chart sets from the name of its own port',
  ],
  [
    'V26 both',
    {
      server: {
        replicaCount: 3,
        podDisruptionBudget: { enabled: true, minAvailable: 1, maxUnavailable: 1 },
      },
    },
    'V26 server.podDisruptionBudget takes minAvailable or maxUnavailable, not both',
  ],
  ...(
    [
      [2, 2],
      [2, '51%'],
      [1, 1],
    ] as const
  ).map(
    ([pods, least]) =>
      [
        `V26 ${least} of ${pods}`,
        {
          server: {
            replicaCount: pods,
            podDisruptionBudget: { enabled: true, minAvailable: least },
          },
        },
        `V26 server.podDisruptionBudget.minAvailable=${least} with ${pods} replicas would block every node drain; set less than the number of replicas`,
      ] as const,
  ),
  ...[0, '0%'].map(
    (most) =>
      [
        `V26 at most ${most}`,
        { ui: { enabled: true, podDisruptionBudget: { enabled: true, maxUnavailable: most } } },
        `V26 ui.podDisruptionBudget.maxUnavailable=${most} would block every node drain; set 1 or more`,
      ] as const,
  ),
  [
    'V27 without a request',
    { server: { autoscaling: { enabled: true }, resources: { requests: { cpu: null } } } },
    'V27 server.autoscaling.enabled needs server.resources.requests.cpu, of which the target is a percentage',
  ],
  [
    'V27',
    { server: { autoscaling: { enabled: true, minReplicas: 7 } } },
    'V27 server.autoscaling.minReplicas (7) is above maxReplicas (6)',
  ],
  [
    'V28',
    { apiGroup: 'registry.example.com', crds: { install: true } },
    'V28 the CRDs of registry.example.com belong to another installation; set crds.install=false',
  ],
  [
    'V29',
    { broker: { enabled: true, replicaCount: 2, config: { storage: { type: 'memory' } } } },
    'V29 broker.config.storage.type=memory gives each pod its own login codes and signing keys; use kubernetes, or one replica',
  ],
  [
    'V30',
    { broker: { enabled: true, config: { staticClients: [{ id: 'other' }] } } },
    'V30 broker.config.staticClients has no client "depot"; add it, or correct server.oidc.clientId',
  ],
  ['V31 dex', { dex: { enabled: true } }, 'V31 dex is now broker; see docs/migrating.md'],
  [
    'V31 path of dex',
    { dex: { config: { issuer: 'https://depot.example.com/dex' } } },
    'V31 the path /dex of dex.config.issuer is now /broker; see docs/migrating.md',
  ],
  ...['version', 'module', 'depot', 'provider'].map(
    (old) =>
      [
        `V31 ${old}`,
        { [old]: { replicaCount: 2 } },
        `V31 ${old}.replicaCount is now controller.replicaCount; see docs/migrating.md`,
      ] as const,
  ),
  [
    'V31 proxy',
    { server: { oidc: { dexProxy: { enabled: true } } } },
    'V31 server.oidc.dexProxy is now server.oidc.brokerProxy; see docs/migrating.md',
  ],
  [
    'V31 log level',
    { server: { zapLogLevel: 5 } },
    'V31 server.zapLogLevel is now server.logLevel; see docs/migrating.md',
  ],
  [
    'V31 nginx',
    { ui: { nginx: { preserveHostPort: true } } },
    'V31 ui.nginx is now removed (Host is always kept, and the container port is 3000); see docs/migrating.md',
  ],
  [
    'V31 image',
    { server: { image: { repository: 'ghcr.io/x/opendepot/server' } } },
    'V31 server.image.repository "ghcr.io/x/opendepot/server" is now one image for everything, global.image; see docs/migrating.md',
  ],
  [
    'V32 type',
    { server: { service: { nodePort: 30080 } } },
    'V32 server.service.nodePort=30080 needs server.service.type=NodePort or LoadBalancer',
  ],
  [
    'V32 range',
    { ui: { service: { type: 'NodePort', nodePort: 8080 } } },
    'V32 ui.service.nodePort=8080 is outside of 30000 to 32767, the ports of nodes',
  ],
  [
    'V32 range of a load balancer',
    { server: { service: { type: 'LoadBalancer', nodePort: 80 } } },
    'V32 server.service.nodePort=80 is outside of 30000 to 32767, the ports of nodes',
  ],
  [
    'V32 one port of two Services',
    {
      server: { service: { type: 'NodePort', nodePort: 30_080 } },
      ui: { enabled: true, service: { type: 'NodePort', nodePort: 30_080 } },
    },
    'V32 server.service.nodePort and ui.service.nodePort are both 30080; each Service needs a port of its own',
  ],
  [
    'V32 traffic policy',
    { ui: { service: { externalTrafficPolicy: 'Local' } } },
    'V32 ui.service.externalTrafficPolicy needs ui.service.type=NodePort or LoadBalancer',
  ],
  [
    'V32 families',
    { server: { service: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] } } },
    'V32 server.service.ipFamilyPolicy=SingleStack takes one of server.service.ipFamilies, not two',
  ],
  [
    'V32 ports',
    { server: { adminPort: 8080 } },
    'V32 server.service.targetPort and server.adminPort are both 8080; the server needs two ports',
  ],
  ...(
    [
      ['memory', '2Gi', '1Gi'],
      ['cpu', '1500m', 1],
    ] as const
  ).map(
    ([name, request, limit]) =>
      [
        `V33 ${name}`,
        { server: { resources: { requests: { [name]: request }, limits: { [name]: limit } } } },
        `V33 server.resources.requests.${name}=${request} is above the limit ${limit}`,
      ] as const,
  ),
  [
    'V33 time',
    { server: { shutdownGracePeriod: '1m30s' } },
    'V33 server.terminationGracePeriodSeconds=40 ends the pod before it has finished its requests; set 95 or more',
  ],
  [
    'V33 time of the controller',
    { controller: { shutdownGracePeriod: '41s' } },
    'V33 controller.terminationGracePeriodSeconds=40 ends the pod before it has finished its requests; set 41 or more',
  ],
  [
    'V33 name servers',
    { valkey: { dnsPolicy: 'None' } },
    'V33 valkey.dnsPolicy=None needs valkey.dnsConfig.nameservers',
  ],
  [
    'V33 strategy of a StatefulSet',
    { server: { updateStrategy: { type: 'OnDelete' } } },
    'V33 server.updateStrategy.type=OnDelete is not a strategy of a Deployment, which the server is with server.stats.persistence.enabled=false; write RollingUpdate or Recreate',
  ],
  [
    'V33 strategy of a Deployment',
    {
      server: {
        updateStrategy: { type: 'Recreate' },
        stats: { persistence: { enabled: true } },
      },
    },
    'V33 server.updateStrategy.type=Recreate is not a strategy of a StatefulSet, which the server is with server.stats.persistence.enabled=true; write RollingUpdate or OnDelete',
  ],
  [
    'V33 no rolling update',
    { server: { updateStrategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } } },
    'V33 server.updateStrategy.rollingUpdate needs server.updateStrategy.type=RollingUpdate',
  ],
  [
    'V33 no pod',
    {
      server: {
        updateStrategy: {
          type: 'RollingUpdate',
          rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' },
        },
      },
    },
    'V33 server.updateStrategy.rollingUpdate has no pod to add or to remove: maxSurge or maxUnavailable must be above 0',
  ],
  ...['serviceMonitor', 'podMonitor'].map(
    (name) =>
      [
        `V34 timeout of ${name}`,
        { monitoring: { [name]: { enabled: true, interval: '10s', scrapeTimeout: '1m' } } },
        `V34 monitoring.${name}.scrapeTimeout=1m is longer than the interval, 10s`,
      ] as const,
  ),
  [
    'V34 both monitors',
    { monitoring: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } } },
    'V34 monitoring.serviceMonitor and monitoring.podMonitor scrape the same pods; enable one of them',
  ],
  [
    'V34 alert',
    { monitoring: { prometheusRule: { disabledAlerts: ['DepotDwon'] } } },
    expect.stringMatching(
      /^V34 monitoring\.prometheusRule\.disabledAlerts names "DepotDwon"; the alerts are DepotDown, /,
    ),
  ],
  [
    'V35 OIDC',
    { broker: { enabled: true } },
    "V35 broker.enabled needs server.oidc.enabled=true, because the server ignores the broker's tokens otherwise",
  ],
  [
    'V35 no connector',
    proxied({}),
    'V35 broker.config.connectors is empty, so that nobody could log in; name an identity provider, or set enablePasswordDB and staticPasswords',
  ],
  [
    'V35 key',
    proxied({}, { config: { conectors: [] } }),
    expect.stringMatching(
      /^V35 broker\.config\.conectors is not a key of Dex; write one of issuer, /,
    ),
  ],
  [
    'V35 type',
    proxied({}, { config: { connectors: [{ type: 'git-hub' }] } }),
    expect.stringMatching(
      /^V35 broker\.config\.connectors has the type "git-hub"; write one of .*github/,
    ),
  ],
  ...['blockOnCritical', 'blockOnHigh'].map(
    (name) =>
      [
        `V36 scanning ${name}`,
        { scanning: { [name]: true } },
        `V36 scanning.${name} has no effect, because scanning.enabled is not true`,
      ] as const,
  ),
  [
    'V36 database',
    {
      scanning: {
        enabled: true,
        dbUpdater: { enabled: false, repository: 'registry.example.com/trivy-db:2' },
      },
    },
    'V36 scanning.dbUpdater.repository has no effect, because scanning.dbUpdater.enabled is not true',
  ],
  [
    'V36 database of modules',
    {
      scanning: {
        enabled: true,
        providerScanning: false,
        dbUpdater: {
          repository: 'registry.example.com/trivy-db:2',
          extraEnv: [{ name: 'A', value: 'b' }],
        },
      },
    },
    'V36 scanning.dbUpdater.extraEnv, scanning.dbUpdater.repository have no effect, because scanning.providerScanning is not true',
  ],
  [
    'V36 scanner image',
    {
      global: { image: { tag: '1.2.3', digest: `sha256:${'0'.repeat(64)}` } },
      scanning: { enabled: true },
    },
    'V36 global.image.digest pins the image without a scanner: set scanning.image.digest too, to that of the tag 1.2.3-scanning',
  ],
  [
    'V36 image of Trivy',
    { scanning: { enabled: true, image: { repository: 'ghcr.io/aquasecurity/trivy' } } },
    'V36 scanning.image.repository "ghcr.io/aquasecurity/trivy" has no depot: name a mirror of the image of Depot whose tag ends in -scanning, or leave it empty',
  ],
  [
    'V36 secrets',
    { rbac: { scopeToNamespace: true }, controller: { secretNamespaces: ['*'] } },
    'V36 controller.secretNamespaces can only name depot-system, because rbac.scopeToNamespace=true reads no other namespace',
  ],
  [
    'V36 events',
    { controller: { events: { url: 'https://events.example.com' } } },
    'V36 controller.events.url and controller.events.secretName need each other: set both, or neither',
  ],
  [
    'V36 load balancer',
    { ui: { service: { loadBalancerClass: 'x', loadBalancerIP: '10.0.0.1', type: 'NodePort' } } },
    'V36 ui.service.loadBalancerIP and ui.service.loadBalancerClass have no effect, because ui.service.type is NodePort',
  ],
]

/** Values that Helm refuses by their schema, with the end of the path in its message. */
export const malformed: readonly (readonly [values: Values, path: string])[] = [
  [{ scanning: { cache: null } }, 'scanning'],
  [{ scanning: { dbUpdater: { repository: 'https://registry.example.com/db' } } }, 'repository'],
  [{ monitoring: { prometheusRule: { slo: { availability: 0.999 } } } }, 'availability'],
  [{ monitoring: { prometheusRule: { slo: { availability: 100 } } } }, 'availability'],
  [{ server: { storageGrants: ['s3://archives'] } }, 'storageGrants/0'],
  [{ controller: { storageGrants: ['team=archives'] } }, 'storageGrants/0'],
  [{ server: { ingress: { hosts: [{ host: 'https://depot.example.com' }] } } }, 'hosts/0/host'],
  [{ ui: { route: { hostnames: ['depot.example.com:8443'] } } }, 'hostnames/0'],
  [{ server: { ingress: { istio: { hosts: ['https://x'] } } } }, 'hosts/0'],
  [{ networkPolicy: { apiServerCIDRs: ['10.0.0.1/33'] } }, 'apiServerCIDRs/0'],
  [{ controller: { egress: { privateCidrs: ['10.0.0.256/8'] } } }, 'privateCidrs/0'],
  [{ server: { service: { loadBalancerSourceRanges: ['fd00::/129'] } } }, 'SourceRanges/0'],
  [{ server: { stats: { valkeyAddr: 'https://valkey:6379' } } }, 'valkeyAddr'],
  [{ server: { stats: { valkeyAddr: 'valkey' } } }, 'valkeyAddr'],
  [{ ui: { serverHost: 'http://server' } }, 'serverHost'],
  [{ server: { extraEnv: [{ name: 'A', value: 5 }] } }, 'extraEnv/0/value'],
  [{ server: { podAnnotations: { a: true } } }, 'podAnnotations/a'],
  [{ commonLabels: { a: 'b c' } }, 'commonLabels/a'],
  [{ server: { gpg: { secretName: 'other/gpg' } } }, 'secretName'],
  [{ fullnameOverride: 'x'.repeat(44) }, 'fullnameOverride'],
  [{ storage: { filesystem: { mountPath: 'data' } } }, 'mountPath'],
  [{ storage: { filesystem: { mountPath: '/' } } }, 'mountPath'],
  [{ storage: { filesystem: { size: '10Gib' } } }, 'size'],
  [{ storage: { filesystem: { size: '0Gi' } } }, 'size'],
  [{ storage: { filesystem: { storageClassName: 'Fast' } } }, 'storageClassName'],
  [{ valkey: { dataStorage: { requestedSize: '' } } }, 'requestedSize'],
  [{ valkey: { dataStorage: { accessModes: [] } } }, 'accessModes'],
  [{ valkey: { auth: { aclUsers: { 'a b': { permissions: '+@all' } } } } }, 'aclUsers'],
  [{ valkey: { auth: { aclUsers: { a: '+@all' } } } }, 'aclUsers/a'],
  [{ server: { resources: { limits: { memory: '512m' } } } }, 'limits/memory'],
  [{ server: { resources: { requests: { mem: '512Mi' } } } }, 'requests'],
  [{ server: { gpg: { privateKeyKey: 'keys/private' } } }, 'privateKeyKey'],
  [{ server: { ingress: { className: 'Nginx' } } }, 'className'],
  [{ ui: { ingress: { hosts: [{ host: '*' }] } } }, 'hosts/0/host'],
  [{ ui: { ingress: { tls: [{ secretName: 'a b' }] } } }, 'secretName'],
  [{ server: { route: { parentRefs: [{ namespace: 'gateways' }] } } }, 'parentRefs/0'],
  [{ ui: { route: { filters: [{ type: 'Header' }] } } }, 'filters/0/type'],
  [{ server: { tls: { certManager: { privateKey: { algorithm: 'rsa' } } } } }, 'algorithm'],
  [{ server: { service: { loadBalancerClass: 'a b' } } }, 'loadBalancerClass'],
  [{ server: { service: { ipFamilies: ['IPv4', 'IPv4'] } } }, 'ipFamilies'],
  [{ server: { service: { annotations: { 'a b': 'c' } } } }, 'annotations'],
  [{ server: { nodeSelector: { 'a/b/c': 'd' } } }, 'nodeSelector'],
  [{ server: { tolerations: [{ key: 'a', operator: 'Exist' }] } }, 'operator'],
  [{ server: { topologySpreadConstraints: [{ topologyKey: 'zone' }] } }, 'SpreadConstraints'],
  [{ server: { probes: { liveness: { periodSeconds: 0 } } } }, 'periodSeconds'],
  [{ server: { updateStrategy: { type: 'Rolling' } } }, 'type'],
  [{ server: { podDisruptionBudget: { minAvailable: '150%' } } }, 'minAvailable'],
  [{ server: { extraArgs: [5] } }, 'extraArgs/0'],
  [{ server: { extraEnvFrom: [{ secret: { name: 'a' } }] } }, 'extraEnvFrom/0'],
  [{ server: { extraVolumes: [{ name: 'A' }] } }, 'extraVolumes/0/name'],
  [{ server: { extraVolumeMounts: [{ name: 'a' }] } }, 'extraVolumeMounts/0'],
  [{ server: { extraPorts: [{ name: 'debugging-of-node', containerPort: 1 }] } }, 'name'],
  [{ server: { hostAliases: [{ ip: 'localhost' }] } }, 'ip'],
  [{ server: { dnsConfig: { nameservers: ['1', '2', '3', '4'] } } }, 'nameservers'],
  [{ global: { image: { tag: 'v 1' } } }, 'tag'],
  [{ server: { image: { repository: 'https://ghcr.io/depot' } } }, 'repository'],
  [{ controller: { secretNamespaces: ['a', 'a'] } }, 'secretNamespaces'],
  [{ controller: { secretNames: ['my_secret'] } }, 'secretNames/0'],
  [{ networkPolicy: { ingressFrom: [{ ipBlock: { cidr: '10.0.0.0' } }] } }, 'cidr'],
  [{ monitoring: { serviceMonitor: { interval: '1.5s' } } }, 'interval'],
  [
    { monitoring: { podMonitor: { relabelings: [{ source_labels: ['a'] }] } } },
    'podMonitor/relabelings/0',
  ],
]
