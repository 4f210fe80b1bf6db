import type { Values } from './helm.fixture.ts'

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`
const host = 'depot.example.com'

const ui: Values = {
  ui: {
    enabled: true,
    baseUrl: `https://${host}`,
    sessionPasswordSecretName: 'depot-session',
    ingress: {
      enabled: true,
      hosts: [{ host }],
      tls: [{ hosts: [host], secretName: 'depot-tls' }],
    },
  },
  server: { anonymousAuth: true },
}

const broker: Values = {
  broker: {
    enabled: true,
    config: { connectors: [{ type: 'github', id: 'github', name: 'GitHub', config: {} }] },
    envFrom: [{ secretRef: { name: 'github-client' } }],
  },
  server: {
    oidc: {
      enabled: true,
      issuerUrl: `https://${host}/broker`,
      clientSecretName: 'depot-client',
      brokerProxy: { enabled: true },
      allowServiceAccountFallback: true,
      allowClientCredentials: true,
      consumerGroups: 'team-*',
      consumerPersons: true,
    },
    ingress: { enabled: true, hosts: [{ host }] },
  },
}

/** Enables everything that can be enabled at once. */
const everything: Values = {
  global: {
    image: { digest },
    imagePullSecrets: ['pull', { name: 'other' }],
  },
  commonLabels: { team: 'platform' },
  commonAnnotations: { 'example.com/owner': 'platform' },
  server: {
    replicaCount: 2,
    presignModules: true,
    mcp: { enabled: true },
    storageGrants: ['platform=s3://archives/*'],
    publishIssuers: [
      {
        alias: 'gha',
        issuer: 'https://token.actions.githubusercontent.com',
        audience: `https://${host}`,
        claims: ['repository_id', 'ref'],
      },
    ],
    auditLog: '-',
    shutdownDelay: '1s',
    oidc: {
      ...(broker['server'] as { oidc: object }).oidc,
      authzUrl: `https://${host}/broker/auth`,
      tokenUrl: `https://${host}/broker/token`,
    },
    service: { annotations: { a: 'b' }, labels: { c: 'd' } },
    ingress: { istio: { enabled: true, hosts: [host], gateway: 'istio-system/public' } },
    tls: {
      enabled: true,
      certManager: {
        enabled: true,
        issuerRef: { name: 'ca', kind: 'ClusterIssuer' },
        duration: '2160h',
        renewBefore: '360h',
        privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      },
    },
    gpg: { secretName: 'depot-gpg' },
    archiveCache: { enabled: true },
    autoscaling: { enabled: true, behavior: { scaleDown: { stabilizationWindowSeconds: 600 } } },
    podDisruptionBudget: { enabled: true, minAvailable: 1 },
    image: { digest },
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [{ key: 'registry', operator: 'Exists' }],
    serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/depot' } },
    podLabels: { 'azure.workload.identity/use': 'true' },
    priorityClassName: 'high',
    extraArgs: ['--kubeconfig=/etc/kube/config'],
    extraEnv: [{ name: 'AWS_REGION', value: 'eu-west-1' }],
    extraEnvFrom: [{ secretRef: { name: 'azure' } }],
    extraVolumes: [{ name: 'kube', secret: { secretName: 'kube' } }],
    extraVolumeMounts: [{ name: 'kube', mountPath: '/etc/kube' }],
    extraPorts: [{ name: 'debug', containerPort: 9229 }],
    hostAliases: [{ ip: '10.0.0.1', hostnames: ['storage'] }],
  },
  ui: {
    enabled: true,
    replicaCount: 2,
    baseUrl: `https://${host}`,
    sessionPasswordSecretName: 'depot-session',
    shutdownDelay: '1s',
    oidc: { enabled: true, clientSecretName: 'depot-ui', authzUrl: `https://${host}/broker/auth` },
    auth: { devTokenInput: { enabled: true } },
    ingress: { enabled: true, className: 'nginx', hosts: [{ host }] },
    route: {
      enabled: true,
      parentRefs: [{ name: 'public' }],
      hostnames: [host],
      filters: [
        {
          type: 'ResponseHeaderModifier',
          responseHeaderModifier: {
            set: [{ name: 'strict-transport-security', value: 'max-age=300' }],
          },
        },
      ],
    },
    service: {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv4', 'IPv6'],
      loadBalancerIP: '192.0.2.1',
      loadBalancerClass: 'example.com/public',
      loadBalancerSourceRanges: ['192.0.2.0/24'],
    },
    runtimeClassName: 'gvisor',
    schedulerName: 'other',
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['10.0.0.10'], options: [{ name: 'ndots', value: '2' }] },
    deploymentAnnotations: { 'reloader.stakater.com/auto': 'true' },
    probes: { liveness: { timeoutSeconds: 5 } },
    autoscaling: { enabled: true },
    podDisruptionBudget: { enabled: true },
  },
  controller: {
    image: { digest },
    storageGrants: ['platform=s3://archives/*'],
    requireStorageGrants: true,
    publishTemplate: 'template',
    sweepDelete: true,
    replicaCount: 2,
    github: { secretName: 'github', apiUrl: 'https://github.example.com/api/v3' },
    secretNames: ['github', 'git'],
    spool: { storageClassName: 'fast' },
    upstreamHosts: ['registry.opentofu.org', 'registry.terraform.io'],
    sourceHosts: ['github.com', 'codeload.github.com'],
    egress: {
      allow: ['git.example.com'],
      privateCidrs: ['10.1.0.0/16'],
      caSecretName: 'inside-ca',
    },
    events: { url: 'https://events.example.com/depot', secretName: 'depot-events' },
    upstreamPolicy: {
      minimumAge: '7d',
      deny: [{ address: 'github.com/evil/**', reason: 'stolen tokens' }],
    },
  },
  broker: {
    ...(broker['broker'] as object),
    image: { digest },
  },
  valkey: {
    image: { digest },
    auth: {
      enabled: true,
      usersExistingSecret: 'depot-valkey-users',
      aclUsers: { default: { permissions: '~* &* +@all' }, metrics: { permissions: '+info' } },
    },
  },
  storage: { filesystem: { enabled: true } },
  backup: { enabled: true },
  scanning: {
    enabled: true,
    image: { digest },
    blockOnCritical: true,
    dbUpdater: {
      repository: 'registry.example.com:5000/trivy-db:2',
      extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy.example.com:3128' }],
      extraEnvFrom: [{ secretRef: { name: 'registry' } }],
      extraEgress: [{ ports: [{ port: 5000 }] }],
    },
    extraEnv: [{ name: 'AWS_REGION', value: 'eu-central-1' }],
    extraEgress: [{ ports: [{ port: 9000 }] }],
  },
  networkPolicy: {
    enabled: true,
    ingressFrom: [{ namespaceSelector: { matchLabels: { ingress: 'true' } } }],
    monitoringFrom: [{ namespaceSelector: { matchLabels: { monitoring: 'true' } } }],
    extraEgress: [{ ports: [{ port: 9000 }] }],
    apiServerCIDRs: ['10.0.0.1/32'],
  },
  monitoring: {
    serviceMonitor: {
      enabled: true,
      scrapeTimeout: '10s',
      metricRelabelings: [{ sourceLabels: ['__name__'], regex: 'nodejs_.*', action: 'drop' }],
    },
    prometheusRule: { enabled: true, disabledAlerts: ['DepotObjectsRejected'] },
    dashboard: { enabled: true, folder: 'Platform' },
  },
  extraObjects: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-extra' } },
  ],
}

export const profiles: Readonly<Record<string, Values>> = { minimal: {}, ui, broker, everything }
