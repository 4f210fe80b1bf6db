import type { Kind } from '../../api/v1alpha1/v1alpha1.ts'
import type { Parent } from './parent.ts'
import type { Unserved } from './unserved.ts'
import type { VersionRow } from './version-row.ts'

/** A Version, Module or Provider that is not served because another object has its place. */
export interface Conflict {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  /** The reason; undefined after the conflict has ended. */
  readonly unserved: () => Pick<Unserved, 'reason' | 'message'> | undefined
}

/** A Version without a parent. @param isKnown whether it is still the row of its object */
export function waitingConflict(row: VersionRow, isKnown: () => boolean): Conflict {
  const { namespace, name } = row
  const unserved = () => (row.parent === undefined && isKnown() ? row.unserved : undefined)
  return { kind: 'Version', namespace, name, unserved }
}

/** Versions of a parent that are duplicates. */
export function duplicatesConflict({ kind, namespace, name, versions }: Parent): Conflict {
  return {
    kind,
    namespace,
    name,
    unserved() {
      const all = versions.filter((row) => row.isDuplicate).map((row) => row.name)
      if (all.length === 0) return undefined
      const some = all.slice(0, 5).join(', ')
      const message = `${all.length} of its Versions are duplicates of older ones and not served: ${some}${all.length > 5 ? ', …' : ''}`
      return { reason: 'Duplicate', message }
    },
  }
}
