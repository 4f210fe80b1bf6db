import { bool, duration, labels, list, matching, text, texts, type Value } from '../value.ts'

export const monitoringValues: readonly Value[] = [
  bool(
    'monitoring.serviceMonitor.enabled',
    false,
    'Create a ServiceMonitor of the Prometheus operator.',
  ),
  labels(
    'monitoring.serviceMonitor.labels',
    {},
    'Labels by which the operator selects the object.',
  ),
  duration('monitoring.serviceMonitor.interval', '30s', 'Scrape interval.'),
  duration('monitoring.serviceMonitor.scrapeTimeout', '', 'Scrape timeout.'),
  list('monitoring.serviceMonitor.relabelings', [], 'Relabelings of the targets.'),
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
