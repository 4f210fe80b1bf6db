import type { Logger } from '../../base/telemetry/telemetry.ts'
import type { ListTarget } from './list-target.ts'
import type { Outcome } from './outcome.ts'
import type { Transport } from './transport.ts'

/** Logs the end of a list or a watch: usual ends at debug, others with a remedy for the operator. */
export function reportOutcome(
  { target, transport, log }: { target: ListTarget; transport: Transport; log: Logger },
  outcome: Outcome,
  { verb, delayMs }: { verb: 'list' | 'watch'; delayMs: number },
): void {
  const { kind, resource, namespace } = target
  const { reason, message, err } = outcome
  const event = { kind, reason, message, delayMs, ...(err !== undefined && { err }) }
  if (!outcome.wait) {
    log.debug(event, 'watch ended')
  } else if (reason === 'Unauthenticated' || reason === 'Forbidden') {
    const { identity } = transport
    log.error({ ...event, verb, resource, namespace, identity }, 'permission missing')
  } else if (reason === 'DefinitionMissing') {
    const remedy = 'kubectl apply --server-side -k config/crd'
    log.error({ ...event, resource, remedy }, 'custom resource definition missing')
  } else {
    log.warn(event, 'watch failed')
  }
}
