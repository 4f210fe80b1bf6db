import {
  type ArchivesOptions,
  grantProblems,
  storageOfEnvironment,
} from '../../pkg/archives/storage/storage.ts'
import { OptionsError, type ServerCommandOptions } from '../../pkg/base/options/options.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads storage settings from the options and from the environment variables of each cloud's tools. The SDKs look up the
 * rest.
 *
 * @param annotationOf locations that the annotation of a namespace grants
 * @throws OptionsError naming every variable that is not a URL, and every invalid grant
 */
export function storageSettings(
  options: ServerCommandOptions,
  env: Environment,
  annotationOf: (namespace: string) => string | undefined,
): Omit<ArchivesOptions, 'log' | 'metrics'> {
  const { archives: filesystemMountPath, archiveCacheDir, archiveCacheSizeBytes } = options
  const storage = storageOfEnvironment(env)
  const problems = [
    ...storage.problems,
    ...grantProblems(options.storageGrants).map((problem) => `--storage-grants: ${problem}`),
  ]
  if (problems.length > 0) throw new OptionsError(problems)
  return {
    filesystemMountPath,
    grants: {
      text: options.storageGrants,
      annotationOf,
      annotation: `${options.apiGroup}/storage`,
    },
    ...storage.settings,
    cache:
      archiveCacheDir === undefined
        ? undefined
        : { dir: archiveCacheDir, sizeBytes: archiveCacheSizeBytes },
  }
}
