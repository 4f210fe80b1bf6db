import type { PolicyException } from '../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../base/errors/errors.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import {
  type Objects,
  refOf,
  type StoredObject,
  type StoredRef,
} from '../../records/store/store.ts'

/** A decision of a person that lets in a version that a policy holds. */
export interface PolicyDecision extends PolicyException {
  /** A Depot that lets the version in, or a Version that is released. */
  readonly object: StoredRef
}

/** Writes decisions to a log, whatever its level: operators look for them later. A silent log stays silent. */
export function auditTo(log: Logger): (decision: PolicyDecision) => void {
  const lines = log.child({}, { level: log.level === 'silent' ? 'silent' : 'info' })
  return ({ object: { kind, namespace, name }, address, version, by, reason }) => {
    const resource = `${kind} ${namespace}/${name}`
    lines.info({ outcome: 'excepted', resource, address, version, by, reason }, 'audit')
  }
}

/** Tells who let a version in that is too young, or that is denied. */
export function reportException(
  {
    objects,
    audit,
  }: {
    readonly objects: Pick<Objects, 'event'>
    readonly audit: (decision: PolicyDecision) => void
  },
  object: StoredObject,
  item: string,
  exception: PolicyException,
): void {
  const { address, version, by, reason } = exception
  audit({ object: refOf(object), address, version, by, reason })
  const note = `${item} ${version} comes in despite the policy, by the exception of ${by}: ${reason}`
  objects.event({ object, type: 'Normal', reason: 'Excepted', note: printable(note, 1024) })
}
