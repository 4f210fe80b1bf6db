import type { ObservedObject } from '../kube/kube.ts'

/** The spec of a Lease (coordination.k8s.io/v1). */
export interface LeaseRecord {
  readonly resourceVersion: string
  /** Empty if it is not held. */
  readonly holder: string
  readonly durationMs: number
  readonly transitions: number
  readonly acquireTime: string
}

export function recordOf(lease: ObservedObject): LeaseRecord {
  const { spec } = lease as { spec?: Readonly<Record<string, unknown>> }
  const text = (field: string) => {
    const value = spec?.[field]
    return typeof value === 'string' ? value : ''
  }
  const number = (field: string, otherwise: number) => {
    const value = spec?.[field]
    return typeof value === 'number' && value > 0 ? value : otherwise
  }
  return {
    resourceVersion: lease.metadata.resourceVersion,
    holder: text('holderIdentity'),
    durationMs: number('leaseDurationSeconds', 15) * 1000,
    transitions: number('leaseTransitions', 0),
    acquireTime: text('acquireTime'),
  }
}

/** Kubernetes writes microseconds. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}
