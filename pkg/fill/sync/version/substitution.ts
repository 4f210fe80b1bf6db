import type { Version } from '../../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { timeOf } from '../timings.ts'
import type { VersionStatus } from './work.ts'

const maxSubstitutions = 10

/** Evidence of other bytes that an upstream had under a stored version. */
export type Substitution = NonNullable<VersionStatus['substitutions']>[number]

/** Reports other bytes under a stored version, by an Event and in metrics. @param substitution undefined: there is nothing new */
export function reportSubstitution(
  { metrics, objects }: Pick<Context, 'metrics' | 'objects'>,
  object: StoredObject,
  substitution: Substitution | undefined,
): void {
  if (substitution === undefined) return
  const { type } = object.spec as Version['spec']
  metrics.substituted(type)
  const { served, offered, from } = substitution
  const note = `upstream has other bytes under a stored version: ${offered} from ${from} instead of ${served}, which is still served`
  objects.event({
    object,
    type: 'Warning',
    reason: 'UpstreamSubstitution',
    note: printable(note, 1024),
  })
}

/** The evidence of a Version with one more part. */
export function withSubstitution(
  before: VersionStatus | undefined,
  substitution: Substitution | undefined,
): Pick<VersionStatus, 'substitutions'> {
  if (substitution === undefined) return {}
  const substitutions = [...(before?.substitutions ?? []), substitution]
  return { substitutions: substitutions.slice(-maxSubstitutions) }
}

/** Evidence of other bytes under a stored version; undefined if it is known already. */
export function substitutionOf(
  before: VersionStatus | undefined,
  { contentDigest: offered }: { readonly contentDigest?: string | undefined },
  { from, nowMs }: { readonly from: string; readonly nowMs: number },
): Substitution | undefined {
  const served = before?.artifact?.contentDigest
  if (served === undefined || offered === undefined) return undefined
  const isKnown = before?.substitutions?.some((one) => one.offered === offered) === true
  return isKnown ? undefined : { at: timeOf(nowMs), served, offered, from }
}
