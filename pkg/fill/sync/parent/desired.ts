import semver from 'semver'
import { normalizeVersion } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'

/** A version as a parent's spec lists it. */
export interface SpelledVersion {
  /** As the parent's spec spells it. */
  readonly spelled: string
  /** Without a leading `v`. */
  readonly version: string
  /** The name that the parent's spec suggests for the object. */
  readonly name?: string | undefined
}

/** A Version object that should exist. */
export interface DesiredVersion extends SpelledVersion {
  readonly os?: string
  readonly arch?: string
  readonly protocols?: readonly string[]
}

/** A version or platform that was wanted and does not exist. */
export interface Skipped {
  readonly version: string
  readonly platform?: string
  readonly message: string
}

/** Identifies a Version of a parent, whatever the name of its object. */
export function identityOf({
  version,
  os = '',
  arch = '',
}: Pick<DesiredVersion, 'version' | 'os' | 'arch'>): string {
  return os === '' && arch === '' ? version : `${version} ${os}/${arch}`
}

/** The version of a stored Version, without a leading `v`. */
export function versionOfStored({ spec }: Pick<StoredObject, 'spec'>): string {
  const { version } = spec as { version?: unknown }
  return typeof version === 'string' ? normalizeVersion(version) : ''
}

export function identityOfStored({ spec }: Pick<StoredObject, 'spec'>): string {
  const { operatingSystem, architecture } = spec as Partial<Record<string, string>>
  return identityOf({
    version: versionOfStored({ spec }),
    ...(operatingSystem !== undefined && { os: operatingSystem }),
    ...(architecture !== undefined && { arch: architecture }),
  })
}

/** The versions that a parent's spec lists, each once and newest first. */
export function listedVersions(versions: readonly Omit<SpelledVersion, 'spelled'>[]): {
  readonly listed: readonly SpelledVersion[]
  readonly skipped: readonly Skipped[]
} {
  const known = new Map<string, SpelledVersion>()
  const parsed = new Map<string, semver.SemVer>()
  const skipped: Skipped[] = []
  for (const { version: spelled, name } of versions) {
    const version = normalizeVersion(spelled)
    if (known.has(version)) continue
    const read = semver.parse(version)
    if (read === null) {
      const message = 'is not a semantic version such as 1.2.0'
      skipped.push({ version: spelled.slice(0, 64), message })
    } else {
      known.set(version, { spelled: spelled.trim(), version, name })
      parsed.set(version, read)
    }
  }
  // Parsed once each: comparing texts would parse both of them every time.
  const parts = ({ version }: SpelledVersion) => parsed.get(version) ?? version
  const listed = [...known.values()].toSorted((a, b) => semver.compareBuild(parts(b), parts(a)))
  return { listed, skipped }
}

/**
 * Keeps the newest versions.
 *
 * @param limit 0 or less, or absent: all
 * @param isRetained tells versions that stay and do not count
 */
export function retention<T extends { readonly version: string }>(
  newestFirst: readonly T[],
  limit: number | undefined,
  isRetained: (version: string) => boolean,
): T[] {
  if (limit === undefined || limit <= 0) return [...newestFirst]
  const counted = newestFirst.filter(({ version }) => !isRetained(version)).slice(0, limit)
  const kept = new Set(counted)
  return newestFirst.filter((one) => kept.has(one) || isRetained(one.version))
}
