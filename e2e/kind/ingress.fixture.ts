import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { apply, kind, kubectl } from './cluster.fixture.ts'

/* An ingress controller: Contour turns Ingresses and HTTPRoutes into routes of Envoy. */

const namespace = 'projectcontour'

/** The name for `parentRefs` of an HTTPRoute. */
export const gateway = { name: 'public', namespace }

export const ingressClass = 'contour'

const labels = { app: 'ingress' }

const container = (name: string, command: readonly string[], more: object): object => ({
  name,
  image: 'docker.io/depot/e2e-ingress:e2e',
  imagePullPolicy: 'Never',
  command,
  volumeMounts: [{ name: 'config', mountPath: '/config' }],
  ...more,
})

const settings = { name: 'settings', mountPath: '/settings' }

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'ingress', namespace },
  spec: {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        serviceAccountName: 'contour',
        terminationGracePeriodSeconds: 0,
        initContainers: [
          container(
            'bootstrap',
            [
              'contour',
              'bootstrap',
              '/config/envoy.json',
              '--admin-address=/config/admin.sock',
              '--xds-address=127.0.0.1',
              '--xds-port=8001',
            ],
            {},
          ),
        ],
        containers: [
          container(
            'contour',
            [
              'contour',
              'serve',
              '--incluster',
              '--insecure',
              '--disable-leader-election',
              '--xds-address=127.0.0.1',
              '--xds-port=8001',
              '--config-path=/settings/contour.yaml',
              '--envoy-service-http-port=8080',
              '--envoy-service-https-port=8443',
            ],
            { volumeMounts: [settings] },
          ),
          container(
            'envoy',
            [
              'envoy',
              '-c',
              '/config/envoy.json',
              '--service-cluster',
              'ingress',
              '--service-node',
              'ingress',
            ],
            {
              ports: [{ name: 'http', containerPort: 8080 }],
              readinessProbe: { httpGet: { path: '/ready', port: 8002 }, periodSeconds: 1 },
            },
          ),
        ],
        volumes: [
          { name: 'config', emptyDir: {} },
          { name: 'settings', configMap: { name: 'ingress' } },
        ],
      },
    },
  },
}

const subject = '/CN=depot.test'
const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
const pem = execFileSync(
  'openssl',
  ['req', '-x509', ...curve, '-subj', subject, '-days', '1', '-keyout', '-', '-out', '-'],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
)
const certificate = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'certificate', namespace },
  type: 'kubernetes.io/tls',
  stringData: {
    'tls.key': pem.slice(0, pem.indexOf('-----BEGIN CERTIFICATE')),
    'tls.crt': pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')),
  },
}

/** Starts it, and forwards a port of the nodes to it. */
export async function startIngress(nodePort: number): Promise<void> {
  const cluster = join(dirname(kind.tools.contour), 'cluster.yaml')
  await kubectl('apply', '--server-side', '-f', cluster)
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s')
  await apply([
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'ingress', namespace },
      data: { 'contour.yaml': JSON.stringify({ gateway: { gatewayRef: gateway } }) },
    },
    deployment,
    certificate,
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'ingress', namespace },
      spec: {
        type: 'NodePort',
        selector: labels,
        ports: [{ port: 80, targetPort: 'http', nodePort }],
      },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: ingressClass },
      spec: { controllerName: 'projectcontour.io/gateway-controller' },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: gateway,
      spec: {
        gatewayClassName: ingressClass,
        listeners: [
          {
            name: 'http',
            protocol: 'HTTP',
            port: 80,
            allowedRoutes: { namespaces: { from: 'All' } },
          },
          // No test uses it, but Contour serves an Ingress completely only if the Gateway has both.
          {
            name: 'https',
            protocol: 'HTTPS',
            port: 443,
            tls: { mode: 'Terminate', certificateRefs: [{ name: certificate.metadata.name }] },
          },
        ],
      },
    },
  ])
  await kubectl('-n', namespace, 'rollout', 'status', 'deployment/ingress', '--timeout=90s')
}

/** Deletes it and frees its port. */
export async function stopIngress(): Promise<void> {
  await kubectl(
    '-n',
    namespace,
    'delete',
    'deployment/ingress',
    'service/ingress',
    '--ignore-not-found',
    '--wait=false',
  )
}
