/** The state of a version in its life: who may still take it, why, and what to take instead. */

import { parse } from 'semver'
import { type Constraints, parseConstraints } from '../constraint/constraint.ts'

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
  if (quarantine !== undefined) return lifecycleFrom('Quarantined', quarantine)
  if (quarantinedBy.length > 0) {
    const message = quarantinedBy.map((entry) => `${entry.by}: ${entry.message}`).join('; ')
    return { state: 'Quarantined', message }
  }
  const [first] = named
  if (first === undefined || first.state === 'Active') return undefined
  return lifecycleFrom(first.state, first)
}

const lifecycleFrom = (
  state: LifecycleState,
  { message, replacedBy, link }: LifecycleNote,
): Lifecycle => ({
  state,
  ...(message !== undefined && { message }),
  ...(replacedBy !== undefined && { replacedBy }),
  ...(link !== undefined && { link }),
})

/** A rule of a Module or Provider for the versions that meet a constraint. */
export interface LifecycleRule extends LifecycleNote {
  readonly versions: string
  readonly state: LifecycleState
}

/** The rules of one parent. */
export class LifecycleRules {
  /** Equal for equal rules. */
  readonly text: string
  readonly #rules: readonly (LifecycleRule & { readonly constraints: Constraints })[]
  readonly #matching = new Map<string, readonly LifecycleRule[]>()

  /** @throws ConstraintError */
  constructor(rules: readonly LifecycleRule[]) {
    this.text = JSON.stringify(rules)
    this.#rules = rules.map((rule) => ({ ...rule, constraints: parseConstraints(rule.versions) }))
  }

  /** The rules that match a version, in order. As in configurations, a prerelease has to be named. */
  matching(version: string): readonly LifecycleRule[] {
    if (this.#rules.length === 0) return this.#rules
    const known = this.#matching.get(version)
    if (known !== undefined) return known
    const parsed = parse(version)
    const found =
      parsed === null ? [] : this.#rules.filter(({ constraints }) => constraints.allows(parsed))
    this.#matching.set(version, found)
    return found
  }
}

/** The words of a person about a version, as a part of a sentence; empty if there are none. */
export function lifecycleWords({ message, replacedBy, link }: LifecycleNote): string {
  const parts = [message, replacedBy && `use ${replacedBy} instead`, link && `see ${link}`]
  return parts.filter(Boolean).join('; ')
}

/** The state of a version with several platforms: the mildest of theirs, as people may still take that platform. */
export function mildest(
  all: readonly { readonly lifecycle?: Lifecycle | undefined }[],
): Lifecycle | undefined {
  let found: Lifecycle | undefined
  for (const { lifecycle } of all) {
    if (lifecycle === undefined) return undefined
    if (found === undefined || strictness[lifecycle.state] < strictness[found.state]) {
      found = lifecycle
    }
  }
  return found
}

const strictness: Readonly<Record<LifecycleState, number>> = {
  Deprecated: 0,
  Yanked: 1,
  Quarantined: 2,
}
