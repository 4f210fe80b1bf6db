import { bool, choice, items, map, type Value } from '../value.ts'
import { pods, serviceAccount } from './pods.ts'
import { variableSource } from './shapes.ts'

export const brokerValues: readonly Value[] = [
  bool(
    'broker.enabled',
    false,
    'Run Dex, a broker between the registry and your identity provider.',
  ),
  ...pods({
    component: 'broker',
    user: 1001,
    image: {
      repository: 'ghcr.io/dexidp/dex',
      tag: 'v2.45.1',
      digest: 'sha256:8499afd690c437f52301efd2b05b2455da5bd2dfc20332cd697dc9937f808462',
    },
    resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '256Mi' } },
    terminationGracePeriodSeconds: 30,
  }),
  ...serviceAccount('broker'),
  map('broker.config', {}, 'Configuration of Dex. The chart adds missing parts.'),
  items(
    'broker.envFrom',
    [],
    variableSource,
    'Secrets and ConfigMaps for `$VARIABLES` in connectors.',
  ),
  bool('broker.rbac.clusterScoped', true, 'Let Dex create its own custom resource definitions.'),
  choice('broker.logLevel', 'info', ['debug', 'info', 'warn', 'error'], 'Minimum log level.'),
]
