import type { StorageSettings } from './places.ts'

/**
 * Reads the variables that the tools of each cloud read. The SDKs read others themselves.
 *
 * @returns the settings, and a problem for each variable that is not a valid URL
 */
export function storageOfEnvironment(env: Readonly<Record<string, string | undefined>>): {
  readonly settings: Pick<StorageSettings, 's3' | 'azure' | 'gcs'>
  readonly problems: readonly string[]
} {
  const endpoints = ['DEPOT_S3_ENDPOINT', 'DEPOT_GCS_ENDPOINT'] as const
  const problems = endpoints
    .filter((name) => !isEndpoint(env[name]))
    .map((name) => `${name} is not a URL such as http://127.0.0.1:9000`)
  const [s3Endpoint, gcsEndpoint] = endpoints.map((name) => env[name] || undefined)
  const settings = {
    s3: {
      endpoint: s3Endpoint,
      accessKeyId: env['AWS_ACCESS_KEY_ID'],
      secretAccessKey: env['AWS_SECRET_ACCESS_KEY'],
      sessionToken: env['AWS_SESSION_TOKEN'],
    },
    azure: { connectionString: env['AZURE_STORAGE_CONNECTION_STRING'] },
    gcs: { endpoint: gcsEndpoint },
  }
  return { settings, problems }
}

function isEndpoint(value = ''): boolean {
  if (value === '') return true
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/'
}
