import { type Lifecycle, lifecycleWords } from '../../api/lifecycle/lifecycle.ts'
import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { printable, type ReasonOf } from '../../base/errors/errors.ts'

/** Reasons why a known object is not served, or not under its address. */
type UnservedReason = ReasonOf<
  | 'Duplicate'
  | 'AddressTaken'
  | 'ParentMissing'
  | 'NotSemver'
  | 'NoPlatform'
  | 'NoFileName'
  | 'NoStorage'
  | 'ReleaseIncomplete'
  | 'NoDigest'
  | 'BreakingChange'
  | 'Quarantined'
>

export interface Unserved {
  readonly reason: UnservedReason
  /** End of a sentence, with the fact and the remedy. */
  readonly message: string
  /** `metadata.name` of the object that is served, in the same namespace. */
  readonly by?: string | undefined
}

/** The reason of a Version that has no parent. */
export function parentMissing({
  kind,
  parentName = '',
  ownerUid,
}: {
  readonly kind: ParentKind
  readonly parentName: string | undefined
  readonly ownerUid: string | undefined
}): Unserved {
  const message =
    ownerUid === undefined
      ? `it has no parent: no ${kind} of its namespace fits it, or several do; set an owner reference`
      : `it has no parent: its owner reference names ${kind} ${parentName}, which does not exist or has another uid; correct the reference or remove it`
  return { reason: 'ParentMissing', message }
}

interface Content {
  readonly name: string
  readonly digest: string | undefined
}

/** The reason of a Version that duplicates an older one. */
export function duplicateOf(row: Content, original: Content | undefined): Unserved {
  const isSame = original?.digest !== undefined && original.digest === row.digest
  const rest = isSame ? 'which has the same content: remove it' : 'which was first: remove one'
  return {
    reason: 'Duplicate',
    message: `duplicate of ${original?.name}, ${rest}`,
    by: original?.name,
  }
}

/**
 * The reason of a Version whose release is not published in full.
 *
 * @param lacking its other platforms
 * @param taken a text of `takenText`
 */
export function releaseIncomplete(lacking: readonly string[], taken: string): Unserved {
  const message = `its release lacks ${lacking.join(', ')}: publish it again with the same zips, or delete the Versions of this release${taken}`
  return { reason: 'ReleaseIncomplete', message }
}

/** Breaking changes of a module version whose number promises none. */
export interface Breaks {
  /** The earlier version whose callers break. */
  readonly from: string
  readonly reasons: string[]
}

/** The reason of a Version that its module's policy refuses. */
export function breakingChange({ from, reasons }: Breaks): Unserved {
  const why = reasons.length > 0 ? `: ${reasons.join(' ')}` : '.'
  const message = `it breaks callers of ${from}${why} To store it, set spec.acceptBreaking: true on its Version. Otherwise, its publisher has to release it as a new major version`
  return { reason: 'BreakingChange', message }
}

/** The reason of a Version that was withdrawn. */
export function quarantined(lifecycle: Lifecycle): Unserved {
  const words = lifecycleWords(lifecycle)
  const message = printable(`it is quarantined${words && `: ${words}`}`, maxMessageBytes)
  return { reason: 'Quarantined', message }
}

const maxMessageBytes = 1000
