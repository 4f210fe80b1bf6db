import semver from 'semver'
import { normalizeVersion } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'

/** A Version object that should exist. */
export interface Desired {
  /** As the parent's spec spells it. */
  readonly spelled: string
  /** Without a leading `v`. */
  readonly version: string
  readonly os?: string
  readonly arch?: string
  readonly protocols?: readonly string[]
  /** The name that the parent's spec wishes. */
  readonly name?: string | undefined
}

/** What was wanted and cannot be had. */
export interface Skipped {
  readonly version: string
  readonly platform?: string
  readonly message: string
}

/** What makes a Version of a parent what it is, whatever its object is called. */
export function identityOf({ version, os = '', arch = '' }: Omit<Desired, 'spelled'>): string {
  return os === '' && arch === '' ? version : `${version} ${os}/${arch}`
}

export function identityOfStored({ spec }: StoredObject): string {
  const { version, operatingSystem, architecture } = spec as {
    version?: unknown
    operatingSystem?: string
    architecture?: string
  }
  return identityOf({
    version: typeof version === 'string' ? normalizeVersion(version) : '',
    ...(operatingSystem !== undefined && { os: operatingSystem }),
    ...(architecture !== undefined && { arch: architecture }),
  })
}

interface Listed {
  readonly version: string
  readonly name?: string | undefined
}

/** The versions that a parent's spec names, each once and newest first. */
export function listedVersions(versions: readonly Listed[]): {
  readonly listed: readonly { spelled: string; version: string; name?: string | undefined }[]
  readonly skipped: readonly Skipped[]
} {
  const known = new Map<string, { spelled: string; version: string; name?: string | undefined }>()
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
  // Read once each: a comparison of texts reads both of them.
  const parts = ({ version }: Listed) => parsed.get(version) ?? version
  const listed = [...known.values()].toSorted((a, b) => semver.compareBuild(parts(b), parts(a)))
  return { listed, skipped }
}

/**
 * The newest of some versions.
 *
 * @param limit 0 or absent: all
 * @param isRetained versions that stay and do not count
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
