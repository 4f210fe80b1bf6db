import { logLevels } from '../../../pkg/base/options/options.ts'
import { bool, choice, duration, matching, objectName, text, type Value } from '../value.ts'
import { autoscaling, disruptionBudget, ingress, route, service } from './network.ts'
import { pods, probesOf, serviceAccount } from './pods.ts'

export const uiValues: readonly Value[] = [
  bool('ui.enabled', false, 'Run the explorer.'),
  ...pods({
    component: 'ui',
    user: 65532,
    resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '256Mi' } },
    terminationGracePeriodSeconds: 40,
  }),
  ...serviceAccount('ui'),
  text('ui.baseUrl', '', 'External URL of the explorer: scheme, host and port.'),
  objectName(
    'ui.sessionPasswordSecretName',
    '',
    'Secret whose key `sessionPassword` has at least 32 characters. Required.',
  ),
  duration('ui.sessionTtl', '8h', 'Maximum lifetime of a session.'),
  duration(
    'ui.shutdownGracePeriod',
    '20s',
    'How long running requests can take to finish after SIGTERM.',
  ),
  duration(
    'ui.shutdownDelay',
    '',
    'How long to accept requests after SIGTERM. Only needed if `lifecycle` removes the five seconds of sleep.',
  ),
  matching(
    'ui.serverHost',
    '',
    '^([A-Za-z0-9][-A-Za-z0-9.]*(:[0-9]{1,5})?)?$',
    '`host:port` of the server. Empty: its Service.',
  ),
  choice('ui.logLevel', 'info', logLevels, 'Minimum log level.'),
  bool('ui.oidc.enabled', false, 'Let people sign in with OIDC.'),
  text('ui.oidc.issuerUrl', '', 'URL of the issuer. Empty: the issuer of the server.'),
  text(
    'ui.oidc.clientId',
    'depot-ui',
    'Client of the explorer. It must differ from the client of the CLIs.',
  ),
  objectName(
    'ui.oidc.clientSecretName',
    '',
    'Secret with the client secret in the key `clientSecret`.',
  ),
  text('ui.oidc.scopes', 'openid profile email groups', 'Scopes, separated by blanks.'),
  text('ui.oidc.callbackPath', '/auth/callback', 'Path to which the issuer redirects browsers.'),
  text('ui.oidc.authzUrl', '', "Authorization endpoint. Empty: from the issuer's discovery."),
  bool(
    'ui.auth.devTokenInput.enabled',
    false,
    'Show a field for any bearer token. Do not use it in production.',
  ),
  ...service('ui'),
  ...ingress('ui'),
  ...route('ui'),
  ...autoscaling('ui'),
  ...disruptionBudget('ui'),
  probesOf('ui'),
]
