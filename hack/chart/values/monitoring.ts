import { bool, duration, list, map, number, text, texts, type Value } from '../value.ts'

export const monitoringValues: readonly Value[] = [
  bool(
    'monitoring.serviceMonitor.enabled',
    false,
    'Make a ServiceMonitor of the Prometheus operator.',
  ),
  map('monitoring.serviceMonitor.labels', {}, 'Labels that the operator selects by.'),
  duration('monitoring.serviceMonitor.interval', '30s', 'How often metrics are read.'),
  duration('monitoring.serviceMonitor.scrapeTimeout', '', 'How long that may take.'),
  list('monitoring.serviceMonitor.relabelings', [], 'Relabelings of the targets.'),
  bool('monitoring.prometheusRule.enabled', false, 'Make a PrometheusRule with the alerts.'),
  map('monitoring.prometheusRule.labels', {}, 'Labels that the operator selects by.'),
  text(
    'monitoring.prometheusRule.runbookBaseUrl',
    'docs/runbooks.md',
    'Where the runbooks are; `#` and the name of the alert in lower case follow.',
  ),
  texts('monitoring.prometheusRule.disabledAlerts', [], 'Names of alerts to leave out.'),
  number(
    'monitoring.prometheusRule.slo.availability',
    99.9,
    'Percent of requests of 30 days that must not fail.',
  ),
  bool('monitoring.dashboard.enabled', false, 'Make a ConfigMap with the dashboard for Grafana.'),
  map('monitoring.dashboard.labels', { grafana_dashboard: '1' }, 'Labels that Grafana selects by.'),
  text('monitoring.dashboard.folder', '', 'Folder in Grafana.'),
]
