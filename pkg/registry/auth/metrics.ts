import type { CallerReason } from '../../base/errors/errors.ts'
import { counter, type Metrics } from '../../base/telemetry/telemetry.ts'
import type { AuthMode, CallerKind } from './caller.ts'
import type { Refusal } from './refusal.ts'

/** Counts allowed and refused callers in plain numbers, because it does so for every request. */
export class AuthMetrics {
  /** Allowed callers by kind. */
  readonly allowed: Record<CallerKind, number> = {
    anonymous: 0,
    guest: 0,
    user: 0,
    machine: 0,
    passthrough: 0,
  }
  readonly #refused = new Map<CallerReason, { readonly result: string; count: number }>()

  constructor(metrics: Metrics, mode: AuthMode) {
    counter(metrics, {
      name: 'auth_requests_total',
      help: 'Requests by what was decided about their caller, and why.',
      labels: ['mode', 'result', 'reason'],
      collect: (it) => {
        it.reset()
        for (const [reason, count] of Object.entries(this.allowed)) {
          if (count > 0) it.inc({ mode, result: 'allowed', reason }, count)
        }
        for (const [reason, { result, count }] of this.#refused) {
          it.inc({ mode, result, reason }, count)
        }
      },
    })
  }

  refused({ reason, result }: Refusal): void {
    const entry = this.#refused.get(reason) ?? { result, count: 0 }
    entry.count += 1
    this.#refused.set(reason, entry)
  }
}
