import { notFound } from '../../../base/errors/errors.ts'
import type { ProxyRules } from '../../../base/http/http.ts'
import type { RemoteStore } from './remote-store.ts'
import { presignedUrl, type S3Bucket, type S3Credentials, signedRequest } from './s3-signing.ts'

/**
 * Keys in the environment variables of the AWS tools. Without keys, a role is used: web identity, EKS Pod Identity, ECS or
 * EC2.
 */
export interface S3Settings {
  /** URL of another service that speaks the protocol of S3; default: AWS. */
  readonly endpoint?: string | undefined
  readonly accessKeyId?: string | undefined
  readonly secretAccessKey?: string | undefined
  readonly sessionToken?: string | undefined
}

/** The server uses its own signatures at once. */
const ownTtlSeconds = 900

const advice =
  'check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the role (AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE, or AWS_CONTAINER_CREDENTIALS_FULL_URI and AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE), that it may s3:GetObject here (to store archives also s3:PutObject, s3:DeleteObject and s3:ListBucket), and the region in the storageConfig'

/** Makes stores that share their credentials. */
export function createS3Stores(
  settings: S3Settings,
  proxies?: ProxyRules,
): (bucket: string, region: string) => RemoteStore {
  let role: Promise<() => Promise<S3Credentials>> | undefined
  const roleOfProcess = () =>
    (role ??= import('./s3-role.ts').then((roles) => roles.createRole(process.env, { proxies })))

  async function credentials(): Promise<S3Credentials> {
    const { accessKeyId, secretAccessKey, sessionToken } = settings
    if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, sessionToken }
    return (await roleOfProcess())()
  }
  const { endpoint } = settings
  const isAws = endpoint === undefined || new URL(endpoint).hostname === 's3.amazonaws.com'

  return (bucket, region) => {
    // Both become part of a host name. A tenant, who may not choose hosts, may have written them.
    if (!/^[a-z0-9-]{1,40}$/.test(region) || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/i.test(bucket)) {
      throw notFound('there is no such archive in storage: its bucket or region has no valid name')
    }
    return bucketStore({ bucket, region, endpoint: isAws ? undefined : endpoint, credentials })
  }
}

function bucketStore(at: S3Bucket): RemoteStore {
  return {
    backend: 's3',
    name: `${at.bucket} (${at.region})`,
    credentialsAdvice: advice,
    request: async (method, object) => ({
      url: await presignedUrl(at, { method, object, ttlSeconds: ownTtlSeconds }),
    }),
    presign: (object, ttlSeconds) => presignedUrl(at, { method: 'GET', object, ttlSeconds }),
    checksum: {
      request: (object) =>
        signedRequest(at, {
          method: 'HEAD',
          object,
          headers: { 'x-amz-checksum-mode': 'ENABLED' },
        }),
      sha256: wholeSha256,
    },
    writing: {
      method: 'PUT',
      put: async (object, { conditional, sha256, checksum }) => {
        const headers = {
          ...(checksum && {
            'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
          }),
          ...(conditional && { 'if-none-match': '*' }),
        }
        return signedRequest(at, { method: 'PUT', object, headers, sha256 })
      },
      async *list(prefix, fetchText) {
        // The server never lists, and the XML parser takes memory.
        const { listS3 } = await import('./s3-listing.ts')
        const listing = { method: 'GET', object: '', ttlSeconds: ownTtlSeconds }
        yield* listS3(prefix, async (query) =>
          fetchText({ url: await presignedUrl(at, { ...listing, query }) }),
        )
      },
    },
  }
}

/**
 * The digest of a whole object as the store reports it, in hexadecimal. The digest of an object that was stored in parts
 * consists of the digests of its parts, so it cannot be compared.
 */
function wholeSha256(header: (name: string) => string | undefined): string | undefined {
  const sum = header('x-amz-checksum-sha256')
  const isWhole = (header('x-amz-checksum-type') ?? 'FULL_OBJECT') === 'FULL_OBJECT'
  if (!isWhole || sum === undefined || !/^[A-Za-z0-9+/]{43}=$/.test(sum)) return undefined
  return Buffer.from(sum, 'base64').toString('hex')
}
