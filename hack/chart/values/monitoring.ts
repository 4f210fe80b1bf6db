import { bool, interval, items, labels, matching, text, texts, type Value } from '../value.ts'
import { relabeling } from './shapes.ts'

const monitor = (name: string, meaning: string): Value[] => [
  bool(`monitoring.${name}.enabled`, false, meaning),
  labels(`monitoring.${name}.labels`, {}, 'Labels by which the operator selects the object.'),
  interval(`monitoring.${name}.interval`, '30s', 'Scrape interval.'),
  interval(`monitoring.${name}.scrapeTimeout`, '', 'Scrape timeout.'),
  items(`monitoring.${name}.relabelings`, [], relabeling, 'Relabelings of the targets.'),
  items(`monitoring.${name}.metricRelabelings`, [], relabeling, 'Relabelings of the series.'),
]

export const monitoringValues: readonly Value[] = [
  ...monitor('serviceMonitor', 'Create a ServiceMonitor of the Prometheus operator.'),
  ...monitor('podMonitor', 'Create a PodMonitor instead, which needs no Services.'),
  bool('monitoring.prometheusRule.enabled', false, 'Create a PrometheusRule with the alerts.'),
  labels(
    'monitoring.prometheusRule.labels',
    {},
    'Labels by which the operator selects the object.',
  ),
  matching(
    'monitoring.prometheusRule.runbookBaseUrl',
    '',
    '^(https?://.+)?$',
    'URL of docs/runbooks.md. `#` and the lower-case name of the alert follow. Empty: alerts have no link. Released charts have it.',
  ),
  texts('monitoring.prometheusRule.disabledAlerts', [], 'Names of alerts to omit.'),
  {
    name: 'monitoring.prometheusRule.slo.availability',
    schema: { type: 'number', minimum: 50, exclusiveMaximum: 100 },
    default: 99.9,
    meaning: 'Percentage of requests that must succeed over 30 days.',
  },
  bool('monitoring.dashboard.enabled', false, 'Create a ConfigMap with the dashboard for Grafana.'),
  labels(
    'monitoring.dashboard.labels',
    { grafana_dashboard: '1' },
    'Labels by which Grafana selects the ConfigMap.',
  ),
  text('monitoring.dashboard.folder', '', 'Grafana folder of the dashboard.'),
]
