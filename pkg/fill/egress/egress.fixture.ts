import { createLogger, createMetrics, type Metrics } from '../../base/telemetry/telemetry.ts'
import { Egress, type EgressOptions, type EgressPolicy } from './egress.ts'

/** Sends requests to test servers on 127.0.0.1, whatever the name of their host. */
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
  return new Egress({
    policy,
    ca,
    metrics: createMetrics({ version: 'test' }),
    log: createLogger('silent'),
    resolve: async () => ['127.0.0.1'],
    ...options,
  })
}
