import * as z from 'zod'
import { optionalText } from '../schema/schema.ts'
import { GithubClientConfig } from './metadata.ts'
import * as rules from './rules.ts'
import { ScanPolicy } from './scan-policy.ts'
import { StorageConfig } from './storage-config.ts'

/** The fields that configs of modules and providers share. */
export const SharedConfig = {
  versionConstraints: optionalText('Version constraints, such as >= 1.2, < 2.'),
  versionHistoryLimit: z
    .int32()
    .optional()
    .describe('Number of versions to keep. 0 or less keeps all. Default: all.'),
  githubClientConfig: GithubClientConfig.optional(),
  storageConfig: StorageConfig.optional(),
  scanPolicy: ScanPolicy.optional(),
}

/** Plugin protocol versions. */
export const Protocols = z.array(z.string().meta(rules.ruled([rules.protocol], { maxLength: 16 })))
