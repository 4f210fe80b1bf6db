import { FillError } from './errors.ts'

/**
 * Reads SHA256SUMS: digests in hexadecimal by file name. Blanks around a line, and a byte order mark, are ignored.
 *
 * @throws FillError ChecksumMismatch if a file has two digests
 */
export function readShasums(document: Buffer | string): Map<string, string> {
  const sums = new Map<string, string>()
  for (const line of String(document).split('\n')) {
    const [, text = '', name = ''] = /^([0-9a-fA-F]{64})\s+\*?(\S+)$/.exec(line.trim()) ?? []
    if (name === '') continue
    const digest = text.toLowerCase()
    if ((sums.get(name) ?? digest) !== digest) {
      throw new FillError('ChecksumMismatch', `SHA256SUMS has two digests of ${name}`)
    }
    sums.set(name, digest)
  }
  return sums
}

/** `zh:` of the archives of one version, by `os_arch`. */
export function archiveHashes(
  sums: ReadonlyMap<string, string>,
  type: string,
  version: string,
): Map<string, string> {
  const hashes = new Map<string, string>()
  const prefix = `terraform-provider-${type}_${version}_`
  for (const [name, digest] of sums) {
    const rest = name.startsWith(prefix) ? name.slice(prefix.length) : ''
    const [, platform] = /^([a-z0-9]+_[a-z0-9]+)\.zip$/.exec(rest) ?? []
    if (platform !== undefined) hashes.set(platform, `zh:${digest}`)
  }
  return hashes
}
