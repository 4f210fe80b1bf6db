/** The state of a version in its life: who may still take it, why, and what to take instead. */

type LifecycleState = 'Deprecated' | 'Yanked' | 'Quarantined'

/** Words of a person about a version. */
interface LifecycleNote {
  readonly message?: string | undefined
  /** The version to take instead, or an address. */
  readonly replacedBy?: string | undefined
  /** A page that explains it. */
  readonly link?: string | undefined
}

/** The entry of a policy that refuses a stored version. */
export interface QuarantineEntry {
  readonly by: 'ScanPolicy' | 'UpstreamPolicy'
  readonly message: string
}

export interface LifecycleFacts {
  /** The state in the spec of the Version. */
  readonly own?: (LifecycleNote & { readonly state: LifecycleState | 'Active' }) | undefined
  /** The rules of its parent that match, in order. */
  readonly rules?: readonly (LifecycleNote & { readonly state: LifecycleState })[] | undefined
  readonly quarantinedBy?: readonly QuarantineEntry[] | undefined
}

/** A state that callers have to know. A version without one is active. */
export interface Lifecycle extends LifecycleNote {
  readonly state: LifecycleState
}

/**
 * The state of a version: that of its own spec, otherwise that of the first rule that matches, otherwise none. Quarantined wins
 * from wherever it comes, so that no rule can release by accident what another one withdrew.
 */
export function effectiveLifecycle({
  own,
  rules = [],
  quarantinedBy = [],
}: LifecycleFacts): Lifecycle | undefined {
  const named = [...(own === undefined ? [] : [own]), ...rules]
  const quarantine = named.find(({ state }) => state === 'Quarantined')
  if (quarantine !== undefined) return { ...quarantine, state: 'Quarantined' }
  if (quarantinedBy.length > 0) {
    const message = quarantinedBy.map((entry) => `${entry.by}: ${entry.message}`).join('; ')
    return { state: 'Quarantined', message }
  }
  const [first] = named
  return first === undefined || first.state === 'Active'
    ? undefined
    : { ...first, state: first.state }
}
