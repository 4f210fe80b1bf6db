import type { StoreRequest } from './remote-store.ts'

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

/** A bucket, and the credentials that sign requests to it. */
export interface S3Bucket {
  readonly bucket: string
  readonly region: string
  /** URL of a service other than AWS. */
  readonly endpoint: string | undefined
  readonly credentials: () => Promise<S3Credentials>
}

/** SHA-256 of an empty body. */
const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** The domain of AWS that serves a region. */
export const awsDomainOf = (region: string): string =>
  region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'

interface PresignedRequest {
  readonly method: string
  /** Empty for the bucket itself. */
  readonly object: string
  readonly query?: Readonly<Record<string, string>>
  readonly ttlSeconds: number
}

export async function presignedUrl(
  { credentials, ...at }: S3Bucket,
  { method, object, query = {}, ttlSeconds }: PresignedRequest,
): Promise<string> {
  const { presignSignatureV4 } = await import('minio/dist/esm/signing.mjs')
  const { accessKeyId, secretAccessKey, sessionToken } = await credentials()
  const { protocol, host, pathname } = urlOf(at, object)
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${escaped(value)}`)
  const path = `${pathname}?${pairs.join('&')}`
  return presignSignatureV4(
    { method, protocol, path, headers: { host } },
    accessKeyId,
    secretAccessKey,
    sessionToken,
    at.region,
    new Date(),
    ttlSeconds,
  )
}

interface SignedRequest {
  readonly method: 'HEAD' | 'PUT'
  readonly object: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Digest of the body in hexadecimal, which the store checks. Default: that of an empty body. */
  readonly sha256?: string
}

/**
 * Signs a request by its headers. S3 reads checksum headers only if they are signed, and those of a pre-signed URL are not.
 */
export async function signedRequest(
  { credentials, ...at }: S3Bucket,
  { method, object, headers, sha256 = emptySha256 }: SignedRequest,
): Promise<StoreRequest> {
  const { signV4 } = await import('minio/dist/esm/signing.mjs')
  const { accessKeyId, secretAccessKey, sessionToken } = await credentials()
  const { protocol, host, pathname: path, href } = urlOf(at, object)
  const now = new Date()
  const all = {
    ...headers,
    'x-amz-date': now.toISOString().replaceAll(/[-:]|\.\d+/g, ''),
    'x-amz-content-sha256': sha256,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  }
  const request = { protocol, method, path, headers: { ...all, host } }
  const authorization = signV4(request, accessKeyId, secretAccessKey, at.region, now, sha256)
  return { url: href, headers: { ...all, authorization } }
}

/** At AWS, the bucket is part of the host name if the certificate allows it; otherwise, it is part of the path. */
function urlOf(
  { bucket, region, endpoint }: Pick<S3Bucket, 'bucket' | 'region' | 'endpoint'>,
  object: string,
): URL {
  const path = object === '' ? '' : `/${escaped(object).replaceAll('%2F', '/')}`
  if (endpoint !== undefined) return new URL(`/${bucket}${path}`, endpoint)
  const host = `s3.${region}.${awsDomainOf(region)}`
  const isHostName = /^[a-z0-9-]+$/.test(bucket)
  return new URL(
    isHostName ? `https://${bucket}.${host}${path}` : `https://${host}/${bucket}${path}`,
  )
}

/** Encodes names as S3 does: everything except letters, digits and `-._~`. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
