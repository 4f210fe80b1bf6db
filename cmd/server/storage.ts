import { OptionsError, type ServerOptions } from '../../pkg/options/options.ts'
import { type ArchivesOptions, grantProblems } from '../../pkg/storage/storage.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * How the archives are reached: options, and what the tools of each cloud read from the environment. What is not named
 * here, the SDKs look up themselves.
 *
 * @param annotationOf places that a namespace was granted by its annotation
 * @throws OptionsError naming every variable that is no URL, and every grant that is none
 */
export function storageSettings(
  options: ServerOptions,
  env: Environment,
  annotationOf: (namespace: string) => string | undefined,
): Omit<ArchivesOptions, 'log' | 'metrics'> {
  const { filesystemMountPath, archiveCacheDir, archiveCacheSizeBytes } = options
  const endpoints = ['DEPOT_S3_ENDPOINT', 'DEPOT_GCS_ENDPOINT'] as const
  const problems = [
    ...endpoints
      .filter((name) => !isEndpoint(env[name]))
      .map((name) => `${name} is no URL such as http://127.0.0.1:9000`),
    ...grantProblems(options.storageGrants).map((problem) => `--storage-grants: ${problem}`),
  ]
  if (problems.length > 0) throw new OptionsError(problems)
  const [s3Endpoint, gcsEndpoint] = endpoints.map((name) => env[name] || undefined)
  return {
    filesystemMountPath,
    grants: {
      text: options.storageGrants,
      annotationOf,
      annotation: `${options.apiGroup}/storage`,
    },
    s3: {
      endpoint: s3Endpoint,
      accessKeyId: env['AWS_ACCESS_KEY_ID'],
      secretAccessKey: env['AWS_SECRET_ACCESS_KEY'],
      sessionToken: env['AWS_SESSION_TOKEN'],
    },
    azure: { connectionString: env['AZURE_STORAGE_CONNECTION_STRING'] },
    gcs: { endpoint: gcsEndpoint },
    cache:
      archiveCacheDir === undefined
        ? undefined
        : { dir: archiveCacheDir, sizeBytes: archiveCacheSizeBytes },
  }
}

function isEndpoint(value = ''): boolean {
  if (value === '') return true
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/'
}
