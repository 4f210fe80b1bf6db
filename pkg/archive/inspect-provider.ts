import { ArchiveError } from './archive-error.ts'
import type { ArchiveLimits } from './limits.ts'

export interface ProviderArchive {
  /** Of the zip, in lower-case hexadecimal; `zh:` and this are what lock files hold. */
  readonly sha256: string
  readonly sizeBytes: number
  /** The other digest of lock files, `h1:` and base64: of the files in the zip. */
  readonly h1: string
  /** For providers the SHA-256 of the zip: its bytes are never changed. */
  readonly contentDigest: string
}

/**
 * Reads the zip of a provider from end to end; its bytes are not changed.
 *
 * @param options.file path of the zip
 * @param options.type type of the provider: the zip must hold `terraform-provider-{type}*`
 * @param options.limits default: `providerLimits`
 * @throws ArchiveError
 */
export function inspectProvider(options: {
  readonly file: string
  readonly type: string
  readonly limits?: ArchiveLimits | undefined
  readonly signal?: AbortSignal | undefined
}): Promise<ProviderArchive> {
  return Promise.reject(new ArchiveError('NotAnArchive', `cannot read ${options.type} yet`))
}
