import semver from 'semver'
import type { Listing, UpstreamVersion } from './module-source.ts'

/** A tag and the commit that it points to. */
export interface Tag {
  readonly name: string
  readonly commit: string
}

/**
 * The versions among tags: those that begin with the prefix, and hold a version after it, with or without `v`. Where two
 * tags spell one version, the one with `v` counts, as it is tried first.
 */
export function versionsOf(tags: readonly Tag[], prefix: string): Omit<Listing, 'unchanged'> {
  const versions = new Map<string, UpstreamVersion>()
  let skipped = 0
  for (const { name, commit } of tags) {
    const version = versionOf(name, prefix)
    if (version === undefined) {
      skipped += 1
      continue
    }
    const known = versions.get(version)
    if (known === undefined || rankOf(name, prefix) < rankOf(known.ref, prefix)) {
      versions.set(version, { version, ref: name, commit })
    }
  }
  return { versions: [...versions.values()], skipped }
}

/** The version of a tag, without `v`. */
function versionOf(tag: string, prefix: string): string | undefined {
  if (!tag.startsWith(prefix) || tag.length > maxTagLength) return undefined
  return bareVersion(tag.slice(prefix.length))
}

const maxTagLength = 255

/** A version without `v`; undefined for what is none. */
export function bareVersion(text: string): string | undefined {
  const bare = text.startsWith('v') ? text.slice(1) : text
  // The parser passes over spaces and line ends around a version.
  return /^[0-9A-Za-z.+-]+$/.test(bare) && semver.parse(bare) !== null ? bare : undefined
}

const rankOf = (tag: string, prefix: string): number => (tag.startsWith('v', prefix.length) ? 0 : 1)
