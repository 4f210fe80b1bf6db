import type { VariableTable } from './table.ts'

/** Environment variables of storage and outgoing requests, under the names of their tools. */
export const storageVariables: VariableTable = {
  DEPOT_S3_ENDPOINT: 'URL of an S3 service other than AWS. Buckets are then part of the path.',
  DEPOT_GCS_ENDPOINT: 'URL of an emulator of Google Cloud Storage, used without credentials.',
  'AWS_…': 'Credentials and region for S3, as for the AWS CLI.',
  'AZURE_…': 'Credentials for Azure Blob Storage, as for its SDK.',
  'GOOGLE_…': 'Credentials for Google Cloud Storage, as for its SDK.',
  'HTTPS_PROXY, NO_PROXY': 'Proxy for outgoing requests, and the hosts to contact without it.',
}
