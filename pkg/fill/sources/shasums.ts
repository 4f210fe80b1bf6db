import { SourceError } from './errors.ts'

/** SHA256SUMS: digests in hexadecimal by file name. @throws SourceError ChecksumMismatch for two digests of one file */
export function readShasums(document: Buffer): Map<string, string> {
  const sums = new Map<string, string>()
  for (const line of document.toString('utf8').split('\n')) {
    const [, digest = '', name = ''] = /^([0-9a-fA-F]{64})[ \t]+\*?(\S+)\s*$/.exec(line) ?? []
    if (name === '') continue
    const known = sums.get(name)
    if (known !== undefined && known !== digest.toLowerCase()) {
      throw new SourceError('ChecksumMismatch', 'SHA256SUMS has two digests of one file')
    }
    sums.set(name, digest.toLowerCase())
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
    const [, platform] =
      /^([a-z0-9]+_[a-z0-9]+)\.zip$/.exec(
        name.startsWith(prefix) ? name.slice(prefix.length) : '',
      ) ?? []
    if (platform !== undefined) hashes.set(platform, `zh:${digest}`)
  }
  return hashes
}
