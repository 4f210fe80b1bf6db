import { isDeepStrictEqual } from 'node:util'
import {
  effectiveLifecycle,
  type LifecycleFacts,
  type LifecycleRule,
  LifecycleRules,
  lifecycleWords,
} from '../../../api/lifecycle/lifecycle.ts'
import { printable } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { writeStatus } from '../status.ts'
import { timeOf } from '../timings.ts'
import { type VersionStatus, versionStatus } from '../version/work.ts'
import { versionOfStored } from './desired.ts'

/**
 * Reports the state of Versions in their statuses, for people: servers know it from the same fields.
 *
 * @param parent with a valid spec
 */
export async function reportLifecycles(
  context: Context,
  parent: StoredObject,
  versions: readonly StoredObject[],
): Promise<void> {
  const { lifecycle = [] } = parent.spec as { lifecycle?: readonly LifecycleRule[] }
  const rules = new LifecycleRules(lifecycle)
  for (const version of versions) {
    if (isReported(version, rules)) continue
    const { lifecycle: before } = versionStatus(version)
    const written = await writeStatus<VersionStatus>(context, version, (status) => ({
      fields: fieldsAfter(stateOf(version, rules, status), status, timeOf(context.clock())),
      conditions: {},
      isObserved: false,
    }))
    const after = written && versionStatus(written).lifecycle
    if (after?.state !== 'Quarantined' || before?.state === 'Quarantined') continue
    const words = lifecycleWords(after)
    const note = printable(`it is not served any more${words && `: ${words}`}`, 1024)
    context.objects.event({ object: version, type: 'Warning', reason: 'Quarantined', note })
  }
}

function isReported(version: StoredObject, rules: LifecycleRules): boolean {
  const status = versionStatus(version)
  const { since: _, ...reported } = status.lifecycle ?? {}
  return isDeepStrictEqual(reported, { ...stateOf(version, rules, status) })
}

/** Keeps the time of a state whose words change. */
function fieldsAfter(
  state: VersionStatus['lifecycle'],
  status: VersionStatus | undefined,
  now: string,
): Pick<VersionStatus, 'lifecycle' | 'quarantineEndedAt'> {
  const { state: before, since } = status?.lifecycle ?? {}
  const isReleased = before === 'Quarantined' && state?.state !== 'Quarantined'
  return {
    lifecycle: state && { ...state, since: before === state.state ? since : now },
    ...(isReleased && { quarantineEndedAt: now }),
  }
}

function stateOf(
  version: StoredObject,
  rules: LifecycleRules,
  status: VersionStatus | undefined,
): VersionStatus['lifecycle'] {
  const { lifecycle: own } = version.spec as { readonly lifecycle?: LifecycleFacts['own'] }
  const matching = rules.matching(versionOfStored(version))
  return effectiveLifecycle({ own, rules: matching, quarantinedBy: status?.quarantinedBy })
}
