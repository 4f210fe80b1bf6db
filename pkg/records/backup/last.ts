import type { Api, KubeClient, ObservedObject } from '../kube/kube.ts'
import { microTime } from '../lease/lease.ts'

/** A Lease whose renewal time is that of the last backup. */
export interface BackupLease {
  readonly namespace: string
  readonly name: string
}

/** Writes the time of a backup into its Lease. @throws ApiError NotFound if there is no such Lease */
export async function noteBackup(
  api: Api,
  { namespace, name }: BackupLease,
  now: Date,
): Promise<void> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`
  const patch = { spec: { holderIdentity: 'depot backup', renewTime: microTime(now.getTime()) } }
  await api.request('PATCH', path, patch, 'application/merge-patch+json')
}

/**
 * Reads the time of the last backup, in milliseconds since 1970; before the first one, the creation time of the Lease.
 *
 * @throws ApiError
 */
export async function lastBackupMs(client: KubeClient, lease: BackupLease): Promise<number> {
  const { metadata, spec } = (await client.get({ kind: 'Lease', ...lease })) as ObservedObject & {
    readonly metadata: { readonly creationTimestamp: string }
    readonly spec?: { readonly renewTime?: string }
  }
  return Date.parse(spec?.renewTime ?? metadata.creationTimestamp)
}
