import { createLogger, createMetrics, type Metrics } from '../../base/telemetry/telemetry.ts'
import { type Egress, type EgressOptions, type EgressPolicy, openEgress } from './egress.ts'

/** A way out to stand-ins on 127.0.0.1, which hosts on this machine are called by. */
export function localEgress(
  hosts: readonly string[],
  ca: string,
  options: Partial<EgressOptions> & { readonly metrics?: Metrics } = {},
): Egress {
  const policy: EgressPolicy = {
    hosts,
    privateNetworks: ['127.0.0.0/8', '::1/128'],
    publicDownloads: true,
  }
  return openEgress({
    policy,
    ca,
    metrics: createMetrics({ version: 'test' }),
    log: createLogger('silent'),
    resolve: async () => ['127.0.0.1'],
    ...options,
  })
}
