import type { StoreRequest } from './remote-store.ts'

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

interface Unsigned {
  readonly method: 'HEAD' | 'PUT'
  /** Without a query. */
  readonly url: string
  readonly region: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Digest of the body in hexadecimal; the store checks it. */
  readonly sha256: string
}

/** The digest of nothing, which requests without a body have. */
export const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/**
 * Signs with all headers. A signed URL will not do for what S3 says of checksums: it takes them from signed headers alone.
 */
export async function signedHeaders(
  { method, url, region, headers, sha256 }: Unsigned,
  { accessKeyId, secretAccessKey, sessionToken }: S3Credentials,
): Promise<StoreRequest> {
  const { signV4 } = await import('minio/dist/esm/signing.mjs')
  const { protocol, host, pathname } = new URL(url)
  const now = new Date()
  const all = {
    ...headers,
    'x-amz-date': now.toISOString().replaceAll(/[-:]|\.\d+/g, ''),
    'x-amz-content-sha256': sha256,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  }
  const request = { protocol, method, path: pathname, headers: { ...all, host } }
  const authorization = signV4(request, accessKeyId, secretAccessKey, region, now, sha256)
  return { url, headers: { ...all, authorization } }
}

/**
 * The digest of a whole object as the store says it, in hexadecimal. That of an object that was stored in parts is one of
 * the digests of its parts, which says nothing here.
 */
export function wholeSha256(header: (name: string) => string | undefined): string | undefined {
  const sum = header('x-amz-checksum-sha256')
  const isWhole = (header('x-amz-checksum-type') ?? 'FULL_OBJECT') === 'FULL_OBJECT'
  if (!isWhole || sum === undefined || !/^[A-Za-z0-9+/]{43}=$/.test(sum)) return undefined
  return Buffer.from(sum, 'base64').toString('hex')
}

export const base64Of = (sha256: string): string => Buffer.from(sha256, 'hex').toString('base64')
