import type { StorageConfig } from './storage-config.ts'

/** The names of backends in statistics, in URLs of archives, and as a label of metrics. */
export const backends = ['s3', 'azure', 'gcs', 'filesystem'] as const
export type Backend = (typeof backends)[number]

export function backendOf({ s3, azureStorage, gcs }: StorageConfig): Backend {
  if (s3) return 's3'
  if (azureStorage) return 'azure'
  return gcs ? 'gcs' : 'filesystem'
}
