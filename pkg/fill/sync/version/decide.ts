import type { ReplacePolicy } from './plan.ts'

export interface Stored {
  readonly contentDigest?: string | undefined
  readonly fileName?: string | undefined
}

export type Decision =
  /** Nothing is stored yet, or the same content is lost or packed otherwise. */
  | 'store'
  /** What is stored has the same content. */
  | 'keep'
  | 'replace'
  /** Served as it is, while upstream has something else. */
  | 'drifted'
  /** The stored archive is gone, and upstream has other content. */
  | 'lost'

/**
 * What to do with an archive that was fetched.
 *
 * @param stored what the status says; undefined where nothing was ever stored
 * @param situation.lost the stored object is missing or altered
 * @param situation.wanted a person asked for a sync, or the spec names another source
 */
export function decide(
  stored: Stored | undefined,
  fetched: { readonly contentDigest: string; readonly fileName: string },
  situation: {
    readonly policy: ReplacePolicy
    readonly lost: boolean
    readonly wanted: boolean
  },
): Decision {
  if (stored?.contentDigest === undefined) return 'store'
  if (stored.contentDigest === fetched.contentDigest) {
    const samePacking = endingOf(stored.fileName) === endingOf(fetched.fileName)
    return situation.lost || !samePacking ? 'store' : 'keep'
  }
  const { policy, lost, wanted } = situation
  if (policy === 'follow' || (policy === 'ask' && wanted)) return 'replace'
  return lost ? 'lost' : 'drifted'
}

function endingOf(fileName: string | undefined): string {
  return fileName?.endsWith('.zip') === true ? 'zip' : 'tar.gz'
}
