import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UpstreamAuthority } from '../../../hack/testbed/upstream/https-server.ts'
import { defaultLimits } from '../../archives/archive/archive.ts'
import { openSpool, type Spool } from '../../archives/spool/spool.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { localEgress } from '../egress/egress.fixture.ts'
import type { Egress, EgressOptions } from '../egress/egress.ts'
import { type FetchOptions, openSources, type Sources, type SourcesOptions } from './sources.ts'

/** Sources that reach test servers on this machine. */
export interface LocalSources {
  readonly sources: Sources
  readonly spool: Spool
  /** Secrets by `namespace/name`. */
  readonly secrets: Map<string, Record<string, Buffer>>
  /** Opens them again over the same folders, as a restart does. */
  restart(): Promise<LocalSources>
  close(): Promise<void>
}

/** Options for tests in which they do not matter. */
export const fetching: FetchOptions = {
  signal: new AbortController().signal,
  limits: defaultLimits.provider,
}

export async function localSources(
  authority: Pick<UpstreamAuthority, 'ca'>,
  hosts: readonly string[],
  options: Partial<SourcesOptions> & Pick<Partial<EgressOptions>, 'resolve'> = {},
): Promise<LocalSources> {
  const dir = mkdtempSync(join(tmpdir(), 'depot-sources-'))
  const secrets = new Map<string, Record<string, Buffer>>()
  const opened: { egress: Egress; spool: Spool }[] = []

  async function open(): Promise<LocalSources> {
    const { clock = Date.now, resolve } = options
    const egress = localEgress(hosts, authority.ca, { clock, ...(resolve && { resolve }) })
    const spool = await openSpool({ dir: join(dir, 'spool'), sizeBytes: 4 * 1024 ** 3 })
    opened.push({ egress, spool })
    const sources = openSources({
      egress,
      spool,
      secrets: async (namespace, name) => secrets.get(`${namespace}/${name}`),
      listingsDir: join(dir, 'listings'),
      upstreamHosts: hosts,
      log: createLogger('silent'),
      metrics: createMetrics({ version: 'test' }),
      ...options,
    })
    return { sources, spool, secrets, restart: open, close }
  }

  async function close(): Promise<void> {
    for (const { egress, spool } of opened) {
      await egress.close()
      await spool.close()
    }
    rmSync(dir, { recursive: true, force: true })
  }

  return open()
}
