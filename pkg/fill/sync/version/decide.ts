import type { ReplacePolicy } from './work.ts'

interface StoredArtifact {
  readonly contentDigest?: string | undefined
  readonly fileName?: string | undefined
}

export type ArchiveDecision =
  /** Nothing is stored yet, or the same content is lost or packed differently. */
  | 'store'
  /** The stored archive has the same content. */
  | 'keep'
  | 'replace'
  /** The stored archive stays, although upstream has other content. */
  | 'drifted'
  /** The stored archive is gone, and upstream has other content. */
  | 'lost'

interface Situation {
  readonly policy: ReplacePolicy
  /** Whether the stored object is missing or altered. */
  readonly lost: boolean
  /** Whether the stored object is in another place than the spec names. */
  readonly elsewhere?: boolean
  /** Whether a person requested a sync, or the spec names another source. */
  readonly wanted: boolean
}

/**
 * Decides whether to fetch upstream's archive.
 *
 * @param knownDrift whether upstream was seen to have this content, and it was not stored
 */
export function decideToFetch(
  knownDrift: boolean,
  { policy, lost, elsewhere, wanted }: Situation,
): 'fetch' | 'keep' | 'drifted' {
  if (wanted || lost) return 'fetch'
  if (policy === 'ask' && elsewhere !== true) return 'drifted'
  return knownDrift ? 'keep' : 'fetch'
}

/**
 * Decides what to do with a fetched archive.
 *
 * @param stored from the status; undefined if nothing was ever stored
 */
export function decide(
  stored: StoredArtifact | undefined,
  fetched: { readonly contentDigest: string; readonly fileName: string },
  situation: Situation,
): ArchiveDecision {
  if (stored?.contentDigest === undefined) return 'store'
  if (stored.contentDigest === fetched.contentDigest) {
    const samePacking = endingOf(stored.fileName) === endingOf(fetched.fileName)
    const isThere = !situation.lost && situation.elsewhere !== true
    return isThere && samePacking ? 'keep' : 'store'
  }
  const { policy, lost, wanted } = situation
  if (policy === 'follow' || (policy === 'ask' && wanted)) return 'replace'
  return lost ? 'lost' : 'drifted'
}

function endingOf(fileName: string | undefined): string {
  return fileName?.endsWith('.zip') === true ? 'zip' : 'tar.gz'
}
