import type { VariableTable } from './table.ts'

/** What storage and outgoing requests take from the environment, under the names that their tools have for it. */
export const storageVariables: VariableTable = {
  DEPOT_S3_ENDPOINT:
    'URL of another service than AWS that speaks S3; buckets are then part of the path.',
  DEPOT_GCS_ENDPOINT: 'URL of an emulator of Google Cloud Storage, asked without credentials.',
  'AWS_…': 'Credentials and region for S3, as the AWS CLI takes them.',
  'AZURE_…': 'Credentials for Azure Blob Storage, as its SDK takes them.',
  'GOOGLE_…': 'Credentials for Google Cloud Storage, as its SDK takes them.',
  'HTTPS_PROXY, NO_PROXY': 'The proxy of outgoing requests, and what is reached without it.',
}
