import { printable } from '../egress/egress.ts'
import { SourceError } from './errors.ts'
import type { ListOptions, ModuleSource, Resolved, UpstreamVersion } from './module-source.ts'
import { bareVersion } from './tags.ts'

/** Versions of one repository are resolved one after the other: a list is not asked for again for each. */
const freshMs = 60_000

/** Finds a version in the list of its source, which is asked again where it is not in what was listed a moment ago. */
export async function resolveFromList(
  source: ModuleSource,
  version: string,
  options: ListOptions,
): Promise<Resolved> {
  const wanted = versionFrom(version)
  const { maxAgeMs = freshMs } = options
  const find = async (ageMs: number) => {
    const { versions } = await source.list({ ...options, maxAgeMs: ageMs })
    return versions.find((one) => one.version === wanted)
  }
  const found = (await find(maxAgeMs)) ?? (maxAgeMs > 0 ? await find(0) : undefined)
  if (found !== undefined) return { version: wanted, ref: found.ref, revision: revisionOf(found) }
  throw new SourceError(
    'NotFound',
    `${source.identity} has no version ${wanted}: push its tag, or remove the version`,
  )
}

function revisionOf({ ref, commit }: UpstreamVersion): string {
  if (commit === undefined) return ref
  return `${ref}@${commit.length === 64 ? 'sha256' : 'sha1'}:${commit}`
}

/** Without `v`. @throws SourceError InvalidSpec */
export function versionFrom(text: string): string {
  const version = bareVersion(text)
  if (version !== undefined) return version
  throw new SourceError(
    'InvalidSpec',
    `"${printable(text, 60)}" is no semantic version, such as 1.2.3`,
  )
}
