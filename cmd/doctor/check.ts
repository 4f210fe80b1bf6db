import { messageOf, RegistryError } from '../../pkg/base/errors/errors.ts'
import { causeOf } from '../../pkg/fill/egress/egress.ts'

type Status = 'ok' | 'warning' | 'failed'

/** The result of a check. */
export interface Verdict {
  readonly status: Status
  readonly message: string
  /** The next step of the operator. */
  readonly remedy?: string
}

export interface Examination {
  readonly what: string
  /** A check that throws has failed. */
  readonly run: () => Verdict | Promise<Verdict>
  /** The remedy if the check throws. */
  readonly remedy?: string
}

export const ok = (message: string): Verdict => ({ status: 'ok', message })
export const warning = (message: string, remedy: string): Verdict => ({
  status: 'warning',
  message,
  remedy,
})
export const failed = (message: string, remedy: string): Verdict => ({
  status: 'failed',
  message,
  remedy,
})

/** The result of a check, with what was checked. */
export interface Found extends Verdict {
  readonly what: string
}

/** Runs checks concurrently. */
export function results(checks: readonly Examination[]): Promise<Found[]> {
  return Promise.all(
    checks.map(async ({ what, run, remedy }) => {
      try {
        return { what, ...(await run()) }
      } catch (error) {
        // These errors have a message for callers of a server. Operators need the cause.
        const cause = error instanceof RegistryError ? causeOf(error) : undefined
        return { what, ...failed(cause ?? messageOf(error), remedy ?? '') }
      }
    }),
  )
}

/** Formats a line for each check, with the remedy below it. */
export function textOf(found: readonly Found[]): string {
  return found
    .map(({ what, status, message, remedy }) => {
      const line = `${status.padEnd(7)}  ${what}: ${message}\n`
      return remedy ? `${line}         → ${remedy}\n` : line
    })
    .join('')
}
