import type { Client } from 'minio'
import { notFound } from '../../../base/errors/errors.ts'
import type { ProxyRules } from '../../../base/http/http.ts'
import { awsDomainOf } from './aws-domain.ts'
import type { RemoteStore } from './remote-store.ts'
import {
  base64Of,
  emptySha256,
  type S3Credentials,
  signedHeaders,
  wholeSha256,
} from './s3-checksum.ts'
import type { createRole } from './s3-role.ts'

/** Keys as the environment of the AWS tools has them. Without them, a role is looked for: web identity, EKS Pod Identity, ECS, EC2. */
export interface S3Settings {
  /** URL of another service that speaks the protocol of S3; default: AWS. */
  readonly endpoint?: string | undefined
  readonly accessKeyId?: string | undefined
  readonly secretAccessKey?: string | undefined
  readonly sessionToken?: string | undefined
}

/** The server reads at once, so its own signatures need not live long. */
const ownTtlSeconds = 900

const advice =
  'check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the role (AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE, or AWS_CONTAINER_CREDENTIALS_FULL_URI and AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE), that it may s3:GetObject here (to store archives also s3:PutObject, s3:DeleteObject and s3:ListBucket), and the region in the storageConfig'

/** Makes stores that share one place where their credentials come from. */
export function createS3Stores(
  settings: S3Settings,
  proxies?: ProxyRules,
): (bucket: string, region: string) => RemoteStore {
  let role: Promise<ReturnType<typeof createRole>> | undefined
  const roleOfProcess = () =>
    (role ??= import('./s3-role.ts').then((roles) => roles.createRole(process.env, { proxies })))

  return (bucket, region) => {
    // Both become part of a host name, and may have been written by a tenant, who may not choose hosts.
    if (!/^[a-z0-9-]{1,40}$/.test(region) || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/i.test(bucket)) {
      throw notFound('there is no such archive in storage: its bucket or region has no valid name')
    }
    let loading: Promise<Client> | undefined
    const client = () => (loading ??= load())
    const presign = async (method: string, object: string, ttlSeconds: number) =>
      (await client()).presignedUrl(method, bucket, object, ttlSeconds)

    async function load(): Promise<Client> {
      const minio = await import('minio')
      const { accessKeyId: accessKey, secretAccessKey: secretKey, sessionToken } = settings
      if (accessKey && secretKey) {
        const keys = { accessKey, secretKey, ...(sessionToken && { sessionToken }) }
        return new minio.Client({ ...addressOf(region, settings.endpoint), ...keys })
      }
      const credentialsProvider = await roleOfProcess()
      return new minio.Client({ ...addressOf(region, settings.endpoint), credentialsProvider })
    }

    async function credentials(): Promise<S3Credentials> {
      const { accessKeyId, secretAccessKey, sessionToken } = settings
      if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, sessionToken }
      const keys = await (await roleOfProcess()).getCredentials()
      return {
        accessKeyId: keys.accessKey,
        secretAccessKey: keys.secretKey,
        sessionToken: keys.sessionToken,
      }
    }

    async function withHeaders(
      method: 'HEAD' | 'PUT',
      object: string,
      headers: Readonly<Record<string, string>>,
      sha256 = emptySha256,
    ) {
      const { origin, pathname } = new URL(await presign(method, object, ownTtlSeconds))
      const unsigned = { method, url: origin + pathname, region, headers, sha256 }
      return signedHeaders(unsigned, await credentials())
    }

    return {
      backend: 's3',
      name: `${bucket} (${region})`,
      credentialsAdvice: advice,
      request: async (method, object) => ({ url: await presign(method, object, ownTtlSeconds) }),
      presign: (object, ttlSeconds) => presign('GET', object, ttlSeconds),
      checksum: {
        request: (object) => withHeaders('HEAD', object, { 'x-amz-checksum-mode': 'ENABLED' }),
        sha256: wholeSha256,
      },
      writing: {
        put: async (object, { conditional, sha256, checksum }) => {
          const headers = {
            ...(checksum && { 'x-amz-checksum-sha256': base64Of(sha256) }),
            ...(conditional && { 'if-none-match': '*' }),
          }
          return { method: 'PUT', ...(await withHeaders('PUT', object, headers, sha256)) }
        },
        async *list(prefix, fetchText) {
          // A server never lists, and its reader of XML takes memory.
          const { listS3 } = await import('./s3-listing.ts')
          yield* listS3(prefix, async (query) => {
            const s3 = await client()
            return fetchText({
              url: await s3.presignedUrl('GET', bucket, '', ownTtlSeconds, query),
            })
          })
        },
      },
    }
  }
}

function addressOf(region: string, endpoint: string | undefined) {
  if (endpoint === undefined) {
    return { endPoint: `s3.${region}.${awsDomainOf(region)}`, region, pathStyle: false }
  }
  const { protocol, hostname, port } = new URL(endpoint)
  const useSSL = protocol === 'https:'
  return { endPoint: hostname, useSSL, region, ...(port !== '' && { port: Number(port) }) }
}
