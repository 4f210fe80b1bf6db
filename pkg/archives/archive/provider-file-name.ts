import semver from 'semver'

/** The parts of the published name of a provider's archive. */
export interface ProviderFileName {
  readonly type: string
  readonly version: string
  readonly os: string
  readonly arch: string
}

/** Depot adds the first digits of the digest to the names of archives that it stores. */
const pattern =
  /^terraform-provider-(?<type>[a-z0-9-]+)_(?<version>[^_]+)_(?<os>[a-z0-9]+)_(?<arch>[a-z0-9]+)(?:-[0-9a-f]{12})?\.zip$/

/** Reads `terraform-provider-TYPE_VERSION_OS_ARCH.zip`; undefined if the name has another form. */
export function providerFileName(name: string): ProviderFileName | undefined {
  const { type, version, os, arch } = pattern.exec(name)?.groups ?? {}
  if (!type || !version || !os || !arch || semver.valid(version) === null) return undefined
  return { type, version, os, arch }
}

/** The limit of file systems and of the schema of a Version. */
const maxNameBytes = 255

/**
 * Makes the name of a stored file. The stem is cut if the name would be too long: a version may have 256 characters.
 *
 * @param tail is never cut, because it contains the digest that makes names differ
 */
export function storedName(stem: string, tail: string): string {
  const bytes = Buffer.from(stem).subarray(0, maxNameBytes - Buffer.byteLength(tail))
  // Drops a character that was cut at the end.
  return new TextDecoder().decode(bytes, { stream: true }) + tail
}
