import { logLevels } from '../../../pkg/base/options/options.ts'
import { bool, choice, duration, integer, map, port, retired, text, type Value } from '../value.ts'
import { autoscaling, disruptionBudget, ingress, route } from './network.ts'
import { pods, serviceAccount } from './pods.ts'

export const uiValues: readonly Value[] = [
  bool('ui.enabled', false, 'Run the explorer.'),
  ...pods({
    component: 'ui',
    user: 65532,
    resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '256Mi' } },
    terminationGracePeriodSeconds: 40,
  }),
  ...serviceAccount('ui'),
  text(
    'ui.baseUrl',
    '',
    'URL by which browsers and CLIs reach the explorer: scheme, host and port.',
  ),
  text(
    'ui.sessionPasswordSecretName',
    '',
    'Secret whose key `sessionPassword` holds at least 32 characters. Required.',
  ),
  duration('ui.sessionTtl', '8h', 'Longest life of a session.'),
  duration(
    'ui.shutdownGracePeriod',
    '20s',
    'How long running requests may take to end after SIGTERM.',
  ),
  duration(
    'ui.shutdownDelay',
    '',
    'How long the port stays open after SIGTERM; only where `lifecycle` takes the five seconds of sleep away.',
  ),
  text('ui.serverHost', '', '`host:port` of the server; empty: its Service.'),
  choice('ui.logLevel', 'info', logLevels, 'Least level that is logged.'),
  bool('ui.oidc.enabled', false, 'Let people log in.'),
  text('ui.oidc.issuerUrl', '', "Issuer; empty: the server's."),
  text('ui.oidc.clientId', 'depot-ui', 'Client of the explorer, another than that of the CLIs.'),
  text('ui.oidc.clientSecretName', '', 'Secret whose key `clientSecret` holds its secret.'),
  text('ui.oidc.scopes', 'openid profile email groups', 'Scopes, with blanks between them.'),
  text('ui.oidc.callbackPath', '/auth/callback', 'Path that the issuer sends people back to.'),
  text('ui.oidc.authzUrl', '', "Authorization endpoint; empty: from the issuer's discovery."),
  bool(
    'ui.auth.devTokenInput.enabled',
    false,
    'Show a field for any bearer token. Not for production.',
  ),
  choice(
    'ui.service.type',
    'ClusterIP',
    ['ClusterIP', 'NodePort', 'LoadBalancer'],
    'Type of the Service.',
  ),
  port('ui.service.port', 80, 'Port of the Service.'),
  integer('ui.service.nodePort', 0, 'Port on every node with type NodePort; 0: any.', {
    minimum: 0,
    maximum: 65535,
  }),
  map('ui.service.annotations', {}, 'Annotations of the Service.'),
  ...ingress('ui'),
  ...route('ui'),
  ...autoscaling('ui'),
  ...disruptionBudget('ui'),
  retired('ui.nginx'),
]
