import {
  type ArchivesOptions,
  grantProblems,
  storageOfEnvironment,
} from '../../pkg/archives/storage/storage.ts'
import { OptionsError, type ServerCommandOptions } from '../../pkg/base/options/options.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * How the archives are reached: options, and what the tools of each cloud read from the environment. What is not named
 * here, the SDKs look up themselves.
 *
 * @param annotationOf places that a namespace was granted by its annotation
 * @throws OptionsError naming every variable that is no URL, and every grant that is none
 */
export function storageSettings(
  options: ServerCommandOptions,
  env: Environment,
  annotationOf: (namespace: string) => string | undefined,
): Omit<ArchivesOptions, 'log' | 'metrics'> {
  const { filesystemMountPath, archiveCacheDir, archiveCacheSizeBytes } = options
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
