import semver from 'semver'
import { printable } from '../../base/errors/errors.ts'
import { FillError } from './errors.ts'
import type {
  ModuleUpstream,
  ResolvedVersion,
  UpstreamListing,
  UpstreamOptions,
  UpstreamVersion,
} from './types.ts'

/** Versions of one repository are resolved one after the other: they share a list for this long. */
const freshMs = 60_000
const maxTagLength = 255

/** A tag and the commit that it points to. */
export interface Tag {
  readonly name: string
  readonly commit: string
}

/** A version without `v`; undefined if the text is not a version. */
export function bareVersion(text: string): string | undefined {
  const bare = text.startsWith('v') ? text.slice(1) : text
  // The parser ignores spaces and line ends around a version.
  return /^[0-9A-Za-z.+-]+$/.test(bare) && semver.parse(bare) !== null ? bare : undefined
}

/** A version without `v`. @throws FillError InvalidSpec */
export function versionFrom(text: string): string {
  const version = bareVersion(text)
  if (version !== undefined) return version
  throw new FillError(
    'InvalidSpec',
    `"${printable(text, 60)}" is not a semantic version, such as 1.2.3`,
  )
}

/**
 * The versions among tags: a tag has to begin with the prefix, followed by a version with or without `v`. If two tags spell
 * one version, the tag with `v` wins.
 */
export function versionsOf(
  tags: readonly Tag[],
  prefix: string,
): Omit<UpstreamListing<UpstreamVersion>, 'unchanged'> {
  const versions = new Map<string, UpstreamVersion>()
  let skipped = 0
  for (const { name, commit } of tags) {
    const isCandidate = name.startsWith(prefix) && name.length <= maxTagLength
    const version = isCandidate ? bareVersion(name.slice(prefix.length)) : undefined
    if (version === undefined) skipped += 1
    else if (!versions.has(version) || name.startsWith('v', prefix.length)) {
      versions.set(version, { version, ref: name, commit })
    }
  }
  return { versions: [...versions.values()], skipped }
}

/** Finds a version in the list of its source, and lists again if an older list does not have it. */
export async function resolveFromList(
  source: Pick<ModuleUpstream, 'identity' | 'list'>,
  version: string,
  options: UpstreamOptions,
): Promise<ResolvedVersion> {
  const wanted = versionFrom(version)
  const { maxAgeMs = freshMs, maxIncompleteAgeMs = 0 } = options
  const find = async (ageMs: number) => {
    const { versions } = await source.list({ ...options, maxAgeMs: ageMs })
    return versions.find((one) => one.version === wanted)
  }
  const found =
    (await find(maxAgeMs)) ??
    (maxAgeMs > maxIncompleteAgeMs ? await find(maxIncompleteAgeMs) : undefined)
  if (found !== undefined) return { version: wanted, ref: found.ref, revision: revisionOf(found) }
  throw new FillError(
    'UpstreamNotFound',
    `${source.identity} has no version ${wanted}: push its tag, or remove the version`,
  )
}

function revisionOf({ ref, commit }: UpstreamVersion): string {
  if (commit === undefined) return ref
  return `${ref}@${commit.length === 64 ? 'sha256' : 'sha1'}:${commit}`
}

/** The commit that a revision names. */
export function commitOf({ revision }: ResolvedVersion): string | undefined {
  return /@sha\d+:([0-9a-f]+)$/.exec(revision)?.[1]
}
