import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { dashboardQueries } from './dashboard.ts'
import { chart, find, render, tool } from './helm.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'depot-alerts-'))
afterAll(() => rmSync(folder, { recursive: true }))

const values = {
  crds: { install: false },
  ui: { enabled: true, sessionPasswordSecretName: 's' },
  backup: { enabled: true },
  scanning: { enabled: true },
  monitoring: {
    prometheusRule: { enabled: true, runbookBaseUrl: 'https://example.com/runbooks.md' },
  },
}
interface Rule {
  readonly alert?: string
  readonly record?: string
  readonly expr: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}
const groups = (find(render(values), 'PrometheusRule', 'depot').spec?.groups ?? []) as readonly {
  readonly name: string
  readonly rules: readonly Rule[]
}[]
const rules = groups.flatMap((group) => group.rules)
writeFileSync(join(folder, 'rules.yaml'), stringify({ groups }))

const server = 'namespace="depot-system",job="depot-server-metrics",pod="depot-server-0"'
const series = (name: string, labels = ''): string =>
  `${name}{${[server, labels].filter(Boolean).join(',')}}`

const controller = (name: string, labels = ''): string =>
  series(name, labels).replace('depot-server-metrics', 'depot-controller-metrics')

const scanning = (name: string, labels = ''): string =>
  series(name, labels).replace('depot-server-metrics', 'depot-scanning-metrics')

const explorer = (name: string, labels = ''): string =>
  series(name, labels).replace('depot-server-metrics', 'depot-ui-metrics')
const page = (code: string): string =>
  explorer('depot_http_request_duration_seconds_count', `method="GET",route="/",code="${code}"`)

const route = 'method="GET",route="/depot/modules/v1/:namespace/:name/:system/versions"'
const count = (code: string): string =>
  series('depot_http_request_duration_seconds_count', `${route},code="${code}"`)
const bucket = (le: string, of = route): string =>
  series('depot_http_request_duration_seconds_bucket', `${of},code="200",le="${le}"`)
const publishing = (code: string): string =>
  series(
    'depot_http_request_duration_seconds_count',
    `method="PUT",route="/depot/publish/v1/modules/:namespace/:name/:system/:version",code="${code}"`,
  )
const storage = (result: string): string =>
  series(
    'depot_storage_request_duration_seconds_count',
    `backend="s3",operation="get",result="${result}"`,
  )
const versions = (state: string): string =>
  series('depot_catalog_versions', `kind="Module",state="${state}"`)
const volume = (what: string): string =>
  `kubelet_volume_stats_${what}_bytes{namespace="depot-system",persistentvolumeclaim="data-depot-valkey-0"}`

const year = 365 * 86_400

type Series = Readonly<Record<string, string>>

interface Case {
  readonly alert: string
  /** Selects one of several rules with that name. */
  readonly window?: string | undefined
  readonly component?: string | undefined
  /** Input in promtool's notation, one value per minute. */
  readonly fires: Series
  readonly quiet: Series
  /** Time of the check. Default: 30m */
  readonly at?: string
  /** Interval of the evaluation, longer for alerts that take days. Default: 1m */
  readonly every?: string
  /** Whether no other rule fires at the same time. */
  readonly alone?: true
}

const cases: readonly Case[] = [
  {
    alert: 'DepotDown',
    fires: { [series('up')]: '0x60' },
    quiet: {
      [series('up')]: '0x60',
      'up{namespace="depot-system",job="depot-server-metrics",pod="other"}': '1x60',
    },
  },
  {
    alert: 'DepotErrorBudgetBurn',
    window: '1h',
    fires: { [count('200')]: '0+100x60', [count('503')]: '0+2x60' },
    // A client that asks for a missing resource is not a failure of the server.
    quiet: {
      [count('200')]: '0+100000x60',
      [count('503')]: '0+1x60',
      [count('404')]: '0+50000x60',
    },
  },
  {
    alert: 'DepotErrorBudgetBurn',
    window: '6h',
    // 0.8 % of the requests: too few for a burn rate of 14.4, enough for one of 6.
    fires: { [count('200')]: '0+992x500', [count('503')]: '0+8x500' },
    quiet: { [count('200')]: '0+9999x500', [count('503')]: '0+0.5x500' },
    at: '7h',
  },
  {
    alert: 'DepotErrorBudgetBurn',
    window: '3d',
    // 0.2 % for four days: too few for both of the others.
    fires: { [count('200')]: '0+998x5760', [count('503')]: '0+2x5760' },
    // The same rate, but only until yesterday.
    quiet: { [count('200')]: '0+998x5760', [count('503')]: '0+2x4320 8640x1440' },
    at: '96h',
    every: '30m',
    alone: true,
  },
  {
    alert: 'DepotLatencyHigh',
    fires: {
      [bucket('0.1')]: '0+50x60',
      [bucket('0.25')]: '0+100x60',
      [bucket('+Inf')]: '0+100x60',
    },
    quiet: {
      [bucket('0.1')]: '0+100x60',
      [bucket('+Inf')]: '0+100x60',
      [bucket('0.1', 'method="GET",route="/depot/modules/v1/download/s3/:bucket"')]: '0x60',
      [bucket('+Inf', 'method="GET",route="/depot/modules/v1/download/s3/:bucket"')]: '0+100x60',
    },
  },
  {
    alert: 'DepotNotReady',
    fires: { [series('depot_catalog_synced', 'kind="Version"')]: '0x60' },
    quiet: { [series('depot_catalog_synced', 'kind="Version"')]: '0x8 1x60' },
  },
  {
    alert: 'DepotWatchStale',
    fires: { [series('depot_watch_last_contact_timestamp_seconds', 'kind="Version"')]: '60x60' },
    quiet: { [series('depot_watch_last_contact_timestamp_seconds', 'kind="Version"')]: '0+60x60' },
  },
  {
    alert: 'DepotObjectsRejected',
    fires: {
      [series('depot_catalog_rejected_objects', 'kind="Version",reason="Invalid"')]: '2x60',
    },
    quiet: {
      [series('depot_catalog_rejected_objects', 'kind="Version",reason="Invalid"')]: '2x5 0x60',
    },
  },
  {
    alert: 'DepotChecksumMismatch',
    fires: {
      [series('depot_archive_aborts_total', 'backend="s3",reason="ChecksumMismatch"')]: '0x20 1x40',
    },
    quiet: {
      [series('depot_archive_aborts_total', 'backend="s3",reason="ChecksumMismatch"')]: '3x60',
      [series('depot_archive_aborts_total', 'backend="s3",reason="ClientGone"')]: '0+9x60',
    },
  },
  {
    alert: 'DepotStorageErrors',
    fires: { [storage('ok')]: '0+90x60', [storage('Unavailable')]: '0+10x60' },
    quiet: {
      [storage('ok')]: '0+99x60',
      [storage('Unavailable')]: '0+1x60',
      [storage('NotFound')]: '0+50x60',
    },
  },
  {
    alert: 'DepotDownloadQueueGrowing',
    fires: { [series('depot_download_queue_oldest_timestamp_seconds')]: '60x60' },
    quiet: { [series('depot_download_queue_oldest_timestamp_seconds')]: '0+60x60' },
  },
  {
    alert: 'DepotDownloadEventsDropped',
    fires: { [series('depot_download_events_dropped_total', 'reason="full"')]: '0x25 1x40' },
    quiet: { [series('depot_download_events_dropped_total', 'reason="full"')]: '7x60' },
  },
  {
    alert: 'DepotJwksStale',
    fires: { [series('depot_auth_jwks_last_success_timestamp_seconds')]: '60x600' },
    quiet: { [series('depot_auth_jwks_last_success_timestamp_seconds')]: '0+60x600' },
    at: '8h',
  },
  {
    alert: 'DepotGroupBindingInvalid',
    fires: { [series('depot_groupbindings_invalid')]: '1x60' },
    quiet: { [series('depot_groupbindings_invalid')]: '0x60' },
  },
  {
    alert: 'DepotSigningKeyExpiring',
    fires: {
      [series('depot_signing_key_expiry_timestamp_seconds', 'key_id="A"')]: `${20 * 86_400}x60`,
    },
    quiet: {
      [series('depot_signing_key_expiry_timestamp_seconds', 'key_id="A"')]: `${year}x60`,
      // A key that never expires.
      [series('depot_signing_key_expiry_timestamp_seconds', 'key_id="B"')]: '0x60',
    },
  },
  {
    alert: 'DepotCertificateExpiring',
    fires: { [series('depot_tls_certificate_expiry_timestamp_seconds')]: `${6 * 86_400}x60` },
    quiet: { [series('depot_tls_certificate_expiry_timestamp_seconds')]: `${8 * 86_400}x60` },
  },
  {
    alert: 'DepotVersionsFailing',
    fires: { [versions('synced')]: '100x60 90x120', [versions('failed')]: '0x60 10x120' },
    quiet: { [versions('synced')]: '90x180', [versions('failed')]: '10x180' },
    at: '90m',
  },
  ...(
    [
      ['server', series, 1024],
      ['ui', explorer, 256],
      ['controller', controller, 4096],
    ] as const
  ).map(([component, of, limitMiB]) => ({
    alert: 'DepotMemoryHigh',
    component,
    fires: { [of('process_resident_memory_bytes')]: `${0.95 * limitMiB * 2 ** 20}x60` },
    quiet: { [of('process_resident_memory_bytes')]: `${0.85 * limitMiB * 2 ** 20}x60` },
  })),
  {
    alert: 'DepotExplorerDown',
    fires: { [explorer('up')]: '0x60' },
    quiet: { [explorer('up')]: '1x60' },
  },
  {
    alert: 'DepotExplorerErrors',
    fires: { [page('200')]: '0+90x60', [page('502')]: '0+10x60' },
    quiet: { [page('200')]: '0+99x60', [page('502')]: '0+1x60' },
  },
  {
    alert: 'DepotEventLoopSlow',
    fires: { [series('nodejs_eventloop_lag_p99_seconds')]: '0.2x60' },
    quiet: { [series('nodejs_eventloop_lag_p99_seconds')]: '0.05x60' },
  },
  {
    alert: 'DepotVolumeFilling',
    fires: { [volume('available')]: '1000000-1000x600', [volume('capacity')]: '4000000x600' },
    quiet: { [volume('available')]: '1000000x600', [volume('capacity')]: '4000000x600' },
    at: '8h',
  },
  {
    alert: 'DepotControllerStalled',
    fires: { [controller('depot_lease_held')]: '1x10 0x50' },
    // The replica that waits for the other.
    quiet: {
      [controller('depot_lease_held')]: '0x60',
      [controller('depot_lease_held').replace('depot-server-0', 'other')]: '1x60',
    },
  },
  {
    alert: 'DepotSyncQueueGrowing',
    fires: { [controller('depot_sync_queue_oldest_seconds', 'kind="Version"')]: '0+60x120' },
    quiet: { [controller('depot_sync_queue_oldest_seconds', 'kind="Version"')]: '800x120' },
    at: '45m',
  },
  {
    alert: 'DepotSyncFailing',
    fires: { [controller('depot_sync_queue_failing', 'kind="Module"')]: '1x120' },
    quiet: { [controller('depot_sync_queue_failing', 'kind="Module"')]: '1x50 0x5 1x65' },
    at: '100m',
  },
  {
    alert: 'DepotPublishingFailing',
    fires: {
      [publishing('503')]: '0+1x60',
      [publishing('201')]: '4x60',
      [publishing('401')]: '0+1x60',
    },
    quiet: { [publishing('503')]: '0+1x60', [publishing('201')]: '0+1x60' },
  },
  {
    // A single failed request means little if nobody else publishes.
    alert: 'DepotPublishingFailing',
    fires: { [publishing('503')]: '0x20 3x40' },
    quiet: { [publishing('503')]: '0x20 2x40' },
  },
  {
    alert: 'DepotSpoolFull',
    fires: {
      [controller('depot_spool_bytes')]: '95x60',
      [controller('depot_spool_size_bytes')]: '100x60',
    },
    quiet: {
      [controller('depot_spool_bytes')]: '85x60',
      [controller('depot_spool_size_bytes')]: '100x60',
    },
  },
  {
    alert: 'DepotUpstreamRateLimited',
    fires: { [controller('depot_ratelimit_remaining', 'host="api.github.com"')]: '0x60' },
    quiet: { [controller('depot_ratelimit_remaining', 'host="api.github.com"')]: '1x60' },
  },
  {
    alert: 'DepotArchiveRefused',
    fires: { [controller('depot_verify_failures_total', 'reason="Unsafe"')]: '0x20 1x40' },
    quiet: { [controller('depot_verify_failures_total', 'reason="Unsafe"')]: '3x60' },
  },
  {
    alert: 'DepotUpstreamSubstitution',
    fires: { [controller('depot_upstream_substitution_total', 'kind="Provider"')]: '0x20 1x40' },
    quiet: { [controller('depot_upstream_substitution_total', 'kind="Provider"')]: '3x60' },
  },
  {
    // The counter of a new process has no earlier value.
    alert: 'DepotUpstreamSubstitution',
    fires: {
      [controller('depot_upstream_substitution_total', 'kind="Provider"')]: '_x20 1x40',
      [controller('depot_upstream_substitutions_recent', 'kind="Provider"')]: '_x20 1x40',
    },
    quiet: {
      [controller('depot_upstream_substitution_total', 'kind="Provider"')]: '_x20 1x40',
      [controller('depot_upstream_substitutions_recent', 'kind="Provider"')]: '_x20 0x40',
    },
  },
  {
    alert: 'DepotRemovalHeld',
    fires: { [controller('depot_removals_held')]: '1x120' },
    quiet: { [controller('depot_removals_held')]: '0x120' },
    at: '90m',
  },
  {
    alert: 'DepotUpstreamPolicyInvalid',
    fires: { [controller('depot_upstream_policy_file_valid')]: '1x10 0x50' },
    quiet: { [controller('depot_upstream_policy_file_valid')]: '1x60' },
  },
  {
    alert: 'DepotEgressRefused',
    fires: { [controller('depot_egress_refused_total')]: '0x20 1x40' },
    quiet: { [controller('depot_egress_refused_total')]: '3x60' },
  },
  {
    alert: 'DepotBackupOld',
    fires: { [controller('depot_backup_last_success_timestamp_seconds')]: '3600x2000' },
    // One value of yesterday, and one of today.
    quiet: {
      [controller('depot_backup_last_success_timestamp_seconds')]: '3600x1440 90000x560',
    },
    at: '28h',
    every: '5m',
  },
  {
    alert: 'DepotScannerDown',
    fires: { [scanning('up')]: '0x60' },
    quiet: { [scanning('up')]: '1x60' },
  },
  {
    alert: 'DepotScanDatabaseMissing',
    fires: { [scanning('up')]: '1x180' },
    quiet: {
      [scanning('up')]: '1x180',
      [scanning('depot_scan_database_timestamp_seconds')]: '3600x180',
    },
    at: '170m',
  },
  {
    alert: 'DepotScanDatabaseMissing',
    fires: { [scanning('up')]: '1x180' },
    // A stopped scanner reports nothing about its database.
    quiet: { [scanning('up')]: '0x180' },
    at: '170m',
  },
  {
    alert: 'DepotScanDatabaseOld',
    fires: { [scanning('depot_scan_database_timestamp_seconds')]: '3600x5000' },
    // One value of yesterday, and one of two days before.
    quiet: { [scanning('depot_scan_database_timestamp_seconds')]: '86400x5000' },
    at: '75h',
    every: '5m',
  },
]

/** The errors that promtool prints. */
function promtool(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(tool('promtool'), args, { encoding: 'utf8' })
  return status === 0 ? '' : `${stdout}${stderr}`
}

type Labels = Readonly<Record<string, string>>

const labelsOf = ({
  alert,
  window,
  component,
}: Pick<Case, 'alert' | 'window' | 'component'>): Labels => ({
  alertname: alert,
  ...(window !== undefined && { window }),
  ...(component !== undefined && { component }),
})

interface Firing {
  readonly labels: Labels
  readonly summary: string
  readonly description: string
}

/** The rules of an alert, after the recorded series that they read, directly or indirectly. */
function groupsOf(name: string) {
  const needed = new Set(rules.filter(({ alert }) => alert === name))
  // The loop also visits rules that it adds.
  for (const { expr } of needed)
    for (const rule of rules)
      if (rule.record !== undefined && expr.includes(rule.record)) needed.add(rule)
  return groups
    .map((group) => ({ ...group, rules: group.rules.filter((rule) => needed.has(rule)) }))
    .filter((group) => group.rules.length > 0)
}

/** Evaluates the rules of an alert for some input. @returns the alerts that fire at the time of the case */
function firing({ alert, at = '30m', every = '1m' }: Case, input: Series): Firing[] {
  const file = join(folder, 'test.yaml')
  const inputs = Object.entries(input).map(([name, samples]) => ({ series: name, values: samples }))
  // promtool reports the alerts that fire if none are expected.
  const asked = [{ alertname: alert, eval_time: at, exp_alerts: [] }]
  const needed = groupsOf(alert)
  writeFileSync(join(folder, 'needed.yaml'), stringify({ groups: needed }))
  writeFileSync(
    file,
    stringify({
      rule_files: ['needed.yaml'],
      evaluation_interval: every,
      group_eval_order: needed.map(({ name }) => name),
      tests: [{ interval: '1m', input_series: inputs, alert_rule_test: asked }],
    }),
  )
  const report = promtool('test', 'rules', file)
  const found = report.matchAll(
    /Labels:\{(.*)\}\s+Annotations:\{description="(.*?)", runbook_url="[^"]*", summary="(.*?)"/g,
  )
  const alerts = Array.from(found, ([, labels = '', description = '', summary = '']) => ({
    labels: Object.fromEntries(
      Array.from(labels.matchAll(/(\w+)="([^"]*)"/g), ([, name = '', value = '']) => [name, value]),
    ),
    summary,
    description,
  }))
  if (report !== '' && alerts.length === 0) throw new Error(report)
  return alerts
}

const firings = new Map<Case, Firing[]>()

/** The alerts with the case's name that fire when they should, evaluated once. */
function fired(of: Case): Firing[] {
  const known = firings.get(of) ?? firing(of, of.fires)
  firings.set(of, known)
  return known
}

describe('alerts', () => {
  it('are valid rules of Prometheus', () => {
    expect(promtool('check', 'rules', join(folder, 'rules.yaml'))).toBe('')
  })

  it('say what happened, with values and without gaps', async () => {
    const texts = cases.flatMap((of) =>
      fired(of).map(({ summary, description }) => `${of.alert}: ${summary}. ${description}`),
    )
    await expect(`${[...new Set(texts)].join('\n')}\n`).toMatchFileSnapshot('testdata/alerts.txt')
  })

  it.each(cases)('$alert $window $component fires', (of) => {
    const labels = fired(of).map((one) => one.labels)
    expect(labels).toContainEqual(expect.objectContaining(labelsOf(of)))
  })

  it.each(cases)('$alert $window $component does not fire', (of) => {
    const labels = firing(of, of.quiet).map((one) => one.labels)
    expect(labels).not.toContainEqual(expect.objectContaining(labelsOf(of)))
  })

  it.each(cases.filter(({ alone }) => alone))('$alert $window fires alone', (of) => {
    expect(new Set(fired(of).map(({ labels }) => labels['window']))).toEqual(new Set([of.window]))
  })

  const names = [...new Set(rules.flatMap(({ alert }) => alert ?? []))]

  it('are all tested', () => {
    const labelled = rules.flatMap(({ alert, labels }) =>
      alert === undefined
        ? []
        : JSON.stringify(
            labelsOf({ alert, window: labels?.['window'], component: labels?.['component'] }),
          ),
    )
    expect(new Set(cases.map((of) => JSON.stringify(labelsOf(of))))).toEqual(new Set(labelled))
  })

  it.each(names)('%s has a section of the runbooks', (name) => {
    const runbooks = readFileSync(join(chart, '../../docs/runbooks.md'), 'utf8')
    expect(runbooks).toContain(`\n## ${name}\n`)
    for (const { alert, annotations } of rules.filter((rule) => rule.alert === name)) {
      expect(annotations?.['runbook_url']).toBe(
        `https://example.com/runbooks.md#${alert?.toLowerCase()}`,
      )
      expect(annotations?.['summary']).not.toBe('')
      expect(annotations?.['description']).toBeTruthy()
    }
  })

  it('can be omitted by name, and follow the service level', () => {
    const some = render({
      crds: { install: false },
      monitoring: {
        prometheusRule: { enabled: true, disabledAlerts: ['DepotDown'], slo: { availability: 99 } },
      },
    })
    const text = stringify(find(some, 'PrometheusRule', 'depot').spec, { lineWidth: 0 })
    expect(text).not.toContain('alert: DepotDown\n')
    expect(text).toContain('(14.4 * 0.01)')
  })

  it('omit controller, explorer and backups if there are none', () => {
    const without = {
      ...values,
      controller: { enabled: false },
      ui: { enabled: false },
      backup: {},
      scanning: {},
    }
    const text = stringify(find(render(without), 'PrometheusRule', 'depot').spec)
    expect(text).not.toMatch(
      /depot_lease_held|DepotExplorer|DepotBackup|DepotScan|-(controller|ui|scanning)-metrics/,
    )
  })

  it.each([{ providerScanning: false }, { offline: false }])(
    'omit the database of scans with %j',
    (scanningValues) => {
      const some = render({ ...values, scanning: { enabled: true, ...scanningValues } })
      const text = stringify(find(some, 'PrometheusRule', 'depot').spec)
      expect(text).toContain('DepotScannerDown')
      expect(text).not.toContain('DepotScanDatabase')
    },
  )

  it('omit the memory if it has no limit', () => {
    const some = render({ ...values, server: { resources: { limits: null } } })
    const text = stringify(find(some, 'PrometheusRule', 'depot').spec)
    expect(text.match(/alert: DepotMemoryHigh/g)).toHaveLength(2)
  })
})

/** Metrics of other programs. */
const foreign = /^(up|ALERTS|kubelet_volume_stats_\w+|process_\w+|nodejs_\w+|depot:\w+)$/

describe('every metric of the alerts and the dashboard', () => {
  const sources = globSync('{pkg,cmd}/**/*.ts', { cwd: join(chart, '../..') })
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => readFileSync(join(chart, '../..', path), 'utf8'))
    .join('\n')
  const asked = [...rules.map(({ expr }) => expr), ...dashboardQueries].flatMap((expr) =>
    [...expr.matchAll(/\b(depot_\w+)\{/g)].map(([, name = '']) => name),
  )

  it.each([...new Set(asked)].filter((name) => !foreign.test(name)))('%s exists', (name) => {
    const bare = name.replace(/^depot_/, '').replace(/_(bucket|count|sum)$/, '')
    expect(sources).toMatch(new RegExp(`'(depot_)?${bare}'`))
  })
})

describe('the dashboard', () => {
  it('has only queries that Prometheus can parse', () => {
    const asked = dashboardQueries.map((query, index) => ({
      record: `query:${index}`,
      expr: query.replaceAll('$__rate_interval', '5m').replace(/\$(namespace|job|pod)/g, 'x'),
    }))
    writeFileSync(
      join(folder, 'queries.yaml'),
      stringify({ groups: [{ name: 'queries', rules: asked }] }),
    )
    expect(promtool('check', 'rules', join(folder, 'queries.yaml'))).toBe('')
    expect(dashboardQueries.length).toBeGreaterThan(30)
  })

  it('is the file that Grafana loads', () => {
    const objects = render({ ...values, monitoring: { dashboard: { enabled: true } } })
    const { panels } = parse(
      find(objects, 'ConfigMap', 'depot-dashboard').data?.['depot.json'] ?? '',
    )
    expect(panels.length).toBeGreaterThan(30)
  })
})
