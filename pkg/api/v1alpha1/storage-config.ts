import * as z from 'zod'
import { optionalFlag, optionalText, text } from '../schema/schema.ts'
import { goDuration } from './go-duration.ts'
import * as rules from './rules.ts'

const S3 = z.object({
  bucket: z.string().min(1).describe('Name of the bucket.'),
  region: z.string().min(1).describe('Region of the bucket.'),
  key: optionalText('Prefix of every object name.'),
})

const AzureStorage = z.object({
  accountName: z.string().min(1).describe('Name of the storage account.'),
  accountUrl: z.string().min(1).describe('URL of the blob service of the account.'),
  subscriptionID: text('Subscription that the account belongs to.'),
  resourceGroup: text('Resource group that the account belongs to.'),
})

const Gcs = z.object({
  bucket: z.string().min(1).describe('Name of the bucket.'),
})

const FileSystem = z.object({
  directoryPath: text(
    'Directory of the archives: relative to the mount path of the server, or inside it.',
    rules.ruled([rules.directoryPath], { maxLength: 512 }),
  ),
})

const Presign = z
  .object({
    enabled: optionalFlag('Redirect downloads to a pre-signed URL of the backend. Default false.'),
    ttl: z
      .string()
      .regex(goDuration, 'must be a duration such as 15m or 1h')
      .optional()
      .describe('Validity of a pre-signed URL, such as 15m or 1h. Default 15m.'),
    fallbackToProxy: optionalFlag(
      'Stream the archive through the server if pre-signing fails. Default true.',
    ),
  })
  .describe('Pre-signed downloads.')

const fields = ['s3', 'azureStorage', 'gcs', 'fileSystem'] as const

/** Storage of the archives: exactly one backend. */
export const StorageConfig = z
  .object({
    s3: S3.optional().describe('Amazon S3, or a compatible service.'),
    azureStorage: AzureStorage.optional().describe(
      'Azure Blob Storage. The container is named like the module or provider.',
    ),
    gcs: Gcs.optional().describe('Google Cloud Storage.'),
    fileSystem: FileSystem.optional().describe('Directory that is mounted into the server.'),
    presign: Presign.optional(),
  })
  .refine((config) => fields.filter((name) => config[name] !== undefined).length === 1, {
    error: `must name exactly one backend of ${fields.join(', ')}`,
  })
  .meta({
    description: 'Storage of the archives: exactly one backend.',
    'x-kubernetes-validations': [
      {
        rule: `[${fields.map((name) => `has(self.${name})`).join(', ')}].filter(x, x).size() == 1`,
        message: `storageConfig must name exactly one backend of ${fields.join(', ')}`,
      },
    ],
  })
export type StorageConfig = z.infer<typeof StorageConfig>

/** The names of backends in statistics, in URLs of archives, and as a label of metrics. */
export const backends = ['s3', 'azure', 'gcs', 'filesystem'] as const
export type Backend = (typeof backends)[number]

export function backendOf({ s3, azureStorage, gcs }: StorageConfig): Backend {
  if (s3) return 's3'
  if (azureStorage) return 'azure'
  return gcs ? 'gcs' : 'filesystem'
}
