/** A graph: its title, Grafana's unit, and its queries, each with a legend. */
interface Panel {
  readonly title: string
  readonly unit: 'short' | 'reqps' | 'percentunit' | 's' | 'bytes' | 'Bps' | 'dateTimeAsIso'
  readonly queries: readonly (readonly [expression: string, legend: string])[]
}

const target = 'namespace="$namespace",job="$job",pod=~"$pod"'
/** Metrics of controllers, whose job label differs from the selected one. */
const release = 'namespace="$namespace"'
const requests = 'depot_http_request_duration_seconds'
const protocol = 'route=~"/(depot/modules|depot/providers|v1|[.]well-known)/.*"'
const archives = 'route=~".*/(v1|modules|providers)/download/.*"'

const rows: Readonly<Record<string, readonly Panel[]>> = {
  Traffic: [
    {
      title: 'Requests by route',
      unit: 'reqps',
      queries: [
        [`sum by (route) (rate(${requests}_count{${target}}[$__rate_interval]))`, '{{route}}'],
      ],
    },
    {
      title: 'Errors by route and code',
      unit: 'reqps',
      queries: [
        [
          `sum by (route, code) (rate(${requests}_count{${target},code=~"[45].."}[$__rate_interval]))`,
          '{{code}} {{route}}',
        ],
      ],
    },
    {
      title: 'Time to the first byte, without archives',
      unit: 's',
      queries: [0.5, 0.99].map((share) => [
        `histogram_quantile(${share}, sum by (le) (rate(${requests}_bucket{${target},${archives.replace('=~', '!~')}}[$__rate_interval])))`,
        `p${share * 100}`,
      ]),
    },
    {
      title: 'Time to the first byte by route, p99',
      unit: 's',
      queries: [
        [
          `histogram_quantile(0.99, sum by (le, route) (rate(${requests}_bucket{${target}}[$__rate_interval])))`,
          '{{route}}',
        ],
      ],
    },
    {
      title: 'Requests in flight',
      unit: 'short',
      queries: [[`sum by (pod) (depot_http_requests_in_flight{${target}})`, '{{pod}}']],
    },
    {
      title: 'Bytes to clients',
      unit: 'Bps',
      queries: [
        [
          `sum by (route) (rate(depot_http_response_bytes_total{${target}}[$__rate_interval]))`,
          '{{route}}',
        ],
      ],
    },
  ],
  'Service level': [
    {
      title: 'Share of failed protocol requests',
      unit: 'percentunit',
      queries: ['5m', '1h', '6h', '3d'].map((window) => [
        `sum(rate(${requests}_count{${target},${protocol},code=~"5.."}[${window}])) / sum(rate(${requests}_count{${target},${protocol}}[${window}]))`,
        window,
      ]),
    },
    {
      title: 'Share of answers within 100 ms, without archives',
      unit: 'percentunit',
      queries: [
        [
          `sum(rate(${requests}_bucket{${target},le="0.1",${archives.replace('=~', '!~')}}[$__rate_interval])) / sum(rate(${requests}_count{${target},${archives.replace('=~', '!~')}}[$__rate_interval]))`,
          'within 100 ms',
        ],
      ],
    },
    {
      title: 'Changes visible, p99',
      unit: 's',
      queries: [
        [
          `histogram_quantile(0.99, sum by (le, kind) (rate(depot_catalog_change_lag_seconds_bucket{${target}}[$__rate_interval])))`,
          '{{kind}}',
        ],
      ],
    },
  ],
  Catalog: [
    {
      title: 'Objects',
      unit: 'short',
      queries: [[`max by (kind) (depot_catalog_objects{${target}})`, '{{kind}}']],
    },
    {
      title: 'Spool',
      unit: 'bytes',
      queries: [
        [`max by (pod) (depot_spool_bytes{${release}})`, 'taken, {{pod}}'],
        [`max by (pod) (depot_spool_size_bytes{${release}})`, 'size, {{pod}}'],
      ],
    },
    {
      title: 'Versions by state',
      unit: 'short',
      queries: [[`max by (kind, state) (depot_catalog_versions{${target}})`, '{{kind}} {{state}}']],
    },
    {
      title: 'Rejected objects',
      unit: 'short',
      queries: [
        [
          `max by (kind, reason) (depot_catalog_rejected_objects{${target}})`,
          '{{kind}} {{reason}}',
        ],
      ],
    },
    {
      title: 'Time since the last message of the API server',
      unit: 's',
      queries: [
        [
          `time() - min by (pod, kind) (depot_watch_last_contact_timestamp_seconds{${target}} > 0)`,
          '{{pod}} {{kind}}',
        ],
      ],
    },
    {
      title: 'Watch restarts and repeated lists',
      unit: 'short',
      queries: [
        [
          `sum by (kind, reason) (increase(depot_watch_restarts_total{${target}}[1h]))`,
          'restart {{kind}} {{reason}}',
        ],
        [
          `sum by (kind, reason) (increase(depot_watch_relists_total{${target}}[1h]))`,
          'list {{kind}} {{reason}}',
        ],
      ],
    },
  ],
  Downloads: [
    {
      title: 'Downloads',
      unit: 'reqps',
      queries: [
        [`sum by (kind) (rate(depot_downloads_total{${target}}[$__rate_interval]))`, '{{kind}}'],
      ],
    },
    {
      title: 'Waiting to be counted',
      unit: 'short',
      queries: [[`sum by (pod) (depot_download_queue_events{${target}})`, '{{pod}}']],
    },
    {
      title: 'Age of the oldest queued download',
      unit: 's',
      queries: [
        [
          `time() - min by (pod) (depot_download_queue_oldest_timestamp_seconds{${target}})`,
          '{{pod}}',
        ],
      ],
    },
    {
      title: 'Not counted',
      unit: 'short',
      queries: [
        [
          `sum by (reason) (increase(depot_download_events_dropped_total{${target}}[1h]))`,
          'dropped, {{reason}}',
        ],
        [
          `1 - min by (pod, store) (depot_download_store_up{${target}})`,
          'store unavailable, {{pod}}',
        ],
      ],
    },
  ],
  Storage: [
    {
      title: 'Requests by backend and result',
      unit: 'reqps',
      queries: [
        [
          `sum by (backend, operation, result) (rate(depot_storage_request_duration_seconds_count{${target}}[$__rate_interval]))`,
          '{{backend}} {{operation}} {{result}}',
        ],
      ],
    },
    {
      title: 'Time to the first byte by backend, p99',
      unit: 's',
      queries: [
        [
          `histogram_quantile(0.99, sum by (le, backend) (rate(depot_storage_request_duration_seconds_bucket{${target}}[$__rate_interval])))`,
          '{{backend}}',
        ],
      ],
    },
    {
      title: 'Aborted archives',
      unit: 'short',
      queries: [
        [
          `sum by (backend, reason) (increase(depot_archive_aborts_total{${target}}[1h]))`,
          '{{backend}} {{reason}}',
        ],
      ],
    },
    {
      title: 'Bytes of archives, and the cache',
      unit: 'bytes',
      queries: [
        [
          `sum by (source) (increase(depot_archive_bytes_total{${target}}[1h]))`,
          'from {{source}}, an hour',
        ],
        [`sum by (pod) (depot_archive_cache_bytes{${target}})`, 'cache of {{pod}}'],
      ],
    },
  ],
  Callers: [
    {
      title: 'Outcomes',
      unit: 'reqps',
      queries: [
        [
          `sum by (mode, result, reason) (rate(depot_auth_requests_total{${target}}[$__rate_interval]))`,
          '{{mode}} {{result}} {{reason}}',
        ],
      ],
    },
    {
      title: 'Requests to the API server about callers, p99',
      unit: 's',
      queries: [
        [
          `histogram_quantile(0.99, sum by (le, result) (rate(depot_auth_passthrough_duration_seconds_bucket{${target}}[$__rate_interval])))`,
          '{{result}}',
        ],
      ],
    },
    {
      title: 'Age of the keys of the issuer',
      unit: 's',
      queries: [
        [
          `time() - min by (pod) (depot_auth_jwks_last_success_timestamp_seconds{${target}})`,
          '{{pod}}',
        ],
      ],
    },
    {
      title: 'GroupBindings that do not compile; broker and signing errors',
      unit: 'short',
      queries: [
        [`max(depot_groupbindings_invalid{${target}})`, 'GroupBindings'],
        [
          `sum by (code) (increase(depot_broker_proxy_requests_total{${target},code=~"5.."}[1h]))`,
          'broker {{code}}',
        ],
        [
          `sum by (result) (increase(depot_signing_requests_total{${target},result!="ok"}[1h]))`,
          'signing {{result}}',
        ],
      ],
    },
    {
      title: 'Time until key and certificate expire',
      unit: 's',
      queries: [
        [
          `min by (key_id) (depot_signing_key_expiry_timestamp_seconds{${target}} > 0) - time()`,
          'key {{key_id}}',
        ],
        [
          `min(depot_tls_certificate_expiry_timestamp_seconds{${target}} > 0) - time()`,
          'certificate',
        ],
      ],
    },
  ],
  Controller: [
    {
      title: 'Reconciled objects by outcome',
      unit: 'reqps',
      queries: [
        [
          `sum by (kind, reason) (rate(depot_sync_total{${release}}[$__rate_interval]))`,
          '{{kind}} {{reason}}',
        ],
      ],
    },
    {
      title: 'Waiting and failing objects',
      unit: 'short',
      queries: [
        [`sum by (kind) (depot_sync_queue_depth{${release}})`, '{{kind}} waiting'],
        [`sum by (kind) (depot_sync_queue_failing{${release}})`, '{{kind}} failing'],
      ],
    },
    {
      title: 'Age of the oldest queued object',
      unit: 's',
      queries: [[`max by (kind) (depot_sync_queue_oldest_seconds{${release}})`, '{{kind}}']],
    },
    {
      title: 'Time to reconcile one object, p99',
      unit: 's',
      queries: [
        [
          `histogram_quantile(0.99, sum by (le, kind) (rate(depot_sync_duration_seconds_bucket{${release}}[$__rate_interval])))`,
          '{{kind}}',
        ],
      ],
    },
    {
      title: 'Requests to upstreams',
      unit: 'reqps',
      queries: [
        [
          `sum by (host, code) (rate(depot_upstream_requests_total{${release}}[$__rate_interval]))`,
          '{{host}} {{code}}',
        ],
      ],
    },
    {
      title: 'Requests that upstreams still allow',
      unit: 'short',
      queries: [[`min by (host) (depot_ratelimit_remaining{${release}})`, '{{host}}']],
    },
    {
      title: 'Versions by state',
      unit: 'short',
      queries: [[`max by (state) (depot_versions{${release}})`, '{{state}}']],
    },
    {
      title: 'Refused archives and requests, tries, lost Leases',
      unit: 'short',
      queries: [
        [
          `sum by (reason) (increase(depot_verify_failures_total{${release}}[1h]))`,
          'archive, {{reason}}',
        ],
        [`sum(increase(depot_egress_refused_total{${release}}[1h]))`, 'request not sent'],
        [`sum by (kind) (increase(depot_sync_retries_total{${release}}[1h]))`, '{{kind}} again'],
        [`sum(increase(depot_lease_losses_total{${release}}[1h]))`, 'Lease lost'],
      ],
    },
    {
      title: 'Holder of the Lease',
      unit: 'short',
      queries: [[`max by (pod) (depot_lease_held{${release}})`, '{{pod}}']],
    },
  ],
  Publishing: [
    {
      title: 'Publications',
      unit: 'short',
      queries: [
        [
          `sum by (kind, outcome, reason) (increase(depot_publish_total{${release}}[1h]))`,
          '{{kind}} {{outcome}} {{reason}} in 1 h',
        ],
      ],
    },
    {
      title: 'Time to check and store a publication',
      unit: 's',
      queries: [
        [
          `histogram_quantile(0.5, sum by (le, kind) (rate(depot_publish_duration_seconds_bucket{${release}}[1h])))`,
          '{{kind}} p50',
        ],
        [
          `histogram_quantile(0.99, sum by (le, kind) (rate(depot_publish_duration_seconds_bucket{${release}}[1h])))`,
          '{{kind}} p99',
        ],
      ],
    },
    {
      title: 'Bytes from publishers',
      unit: 'Bps',
      queries: [
        [
          `sum by (kind) (rate(depot_publish_received_bytes_total{${release}}[$__rate_interval]))`,
          '{{kind}}',
        ],
      ],
    },
  ],
  Lifecycle: [
    {
      title: 'Deprecated, yanked and quarantined versions',
      unit: 'short',
      queries: [
        [
          `max by (kind, state) (depot_catalog_lifecycle_versions{${target}})`,
          '{{kind}} {{state}}',
        ],
      ],
    },
    {
      title: 'Removals that wait for a confirmation',
      unit: 'short',
      queries: [[`max(depot_removals_held{${release}})`, 'Modules and Providers']],
    },
    {
      title: 'Versions that policies hold back',
      unit: 'short',
      queries: [[`max(depot_versions_held_back{${release}})`, 'versions']],
    },
  ],
  Process: [
    {
      title: 'Memory',
      unit: 'bytes',
      queries: [
        [`max by (pod) (process_resident_memory_bytes{${target}})`, 'RSS {{pod}}'],
        [`max by (pod) (nodejs_heap_size_used_bytes{${target}})`, 'heap {{pod}}'],
      ],
    },
    {
      title: 'CPU',
      unit: 'percentunit',
      queries: [
        [`sum by (pod) (rate(process_cpu_seconds_total{${target}}[$__rate_interval]))`, '{{pod}}'],
      ],
    },
    {
      title: 'Event-loop delay, p99',
      unit: 's',
      queries: [[`max by (pod) (nodejs_eventloop_lag_p99_seconds{${target}})`, '{{pod}}']],
    },
    {
      title: 'Time in garbage collection',
      unit: 'percentunit',
      queries: [
        [
          `sum by (pod, kind) (rate(nodejs_gc_duration_seconds_sum{${target}}[$__rate_interval]))`,
          '{{pod}} {{kind}}',
        ],
      ],
    },
  ],
}

export const dashboardQueries: readonly string[] = Object.values(rows)
  .flat()
  .flatMap(({ queries }) => queries.map(([expression]) => expression))

const variable = (name: string, query: string, more: object = {}): object => ({
  name,
  type: 'query',
  datasource: { type: 'prometheus', uid: '${datasource}' },
  query,
  refresh: 2,
  sort: 1,
  ...more,
})

/** config/grafana/depot.json: three graphs in a line, below a heading for each row. */
export function dashboard(): object {
  const panels: object[] = []
  let id = 0
  let y = 0
  for (const [title, graphs] of Object.entries(rows)) {
    id += 1
    panels.push({
      id,
      type: 'row',
      title,
      gridPos: { x: 0, y, w: 24, h: 1 },
      collapsed: false,
      panels: [],
    })
    y += 1
    graphs.forEach((graph, index) => {
      id += 1
      panels.push(
        panel(graph, id, { x: (index % 3) * 8, y: y + Math.floor(index / 3) * 8, w: 8, h: 8 }),
      )
    })
    y += Math.ceil(graphs.length / 3) * 8
  }
  return {
    uid: 'depot',
    title: 'Depot',
    tags: ['depot'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    time: { from: 'now-6h', to: 'now' },
    refresh: '1m',
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        variable('namespace', 'label_values(depot_build_info, namespace)'),
        variable('job', 'label_values(depot_build_info{namespace="$namespace"}, job)'),
        variable('pod', 'label_values(depot_build_info{namespace="$namespace",job="$job"}, pod)', {
          includeAll: true,
          multi: true,
          current: { text: 'All', value: '$__all' },
        }),
      ],
    },
    panels,
  }
}

function panel({ title, unit, queries }: Panel, id: number, gridPos: object): object {
  const datasource = { type: 'prometheus', uid: '${datasource}' }
  return {
    id,
    type: 'timeseries',
    title,
    gridPos,
    datasource,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      legendFormat,
    })),
  }
}
