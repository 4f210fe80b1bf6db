import type { ServerCommandOptions } from '../../pkg/base/options/options.ts'
import type { Logger, Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import type { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { createDownloads, type DownloadCounter } from '../../pkg/registry/downloads/downloads.ts'

export interface OpenDownloadsOptions {
  readonly options: ServerCommandOptions
  readonly secrets: { readonly valkeyPassword: string | undefined }
  readonly catalog: Catalog
  readonly log: Logger
  readonly metrics: Metrics
}

/** Counts downloads in Valkey, else in a file of this machine, and keeps the catalog's counts in step. */
export function openDownloads(all: OpenDownloadsOptions): DownloadCounter {
  const { options, secrets, catalog, log, metrics } = all
  const { statsValkeyAddr: valkey, statsPath: path, statsRefreshIntervalMs } = options
  return createDownloads({
    store: valkey === undefined ? { path } : { valkey, password: secrets.valkeyPassword },
    journalDir: `${path}-queue`,
    refreshIntervalMs: statsRefreshIntervalMs,
    sink: catalog,
    log,
    metrics,
  })
}
