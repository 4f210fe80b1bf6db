import * as z from 'zod'
import { GithubClientConfig } from './metadata.ts'
import { StorageConfig } from './storage-config.ts'

/** What the configs of modules and providers have in common. */
export const SharedConfig = {
  versionConstraints: z.string().optional().describe('Version constraints, such as >= 1.2, < 2.'),
  versionHistoryLimit: z
    .int32()
    .min(0)
    .optional()
    .describe('Number of versions to keep. Default: all.'),
  githubClientConfig: GithubClientConfig.optional(),
  storageConfig: StorageConfig.optional(),
}
