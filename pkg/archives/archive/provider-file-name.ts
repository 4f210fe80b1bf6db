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
