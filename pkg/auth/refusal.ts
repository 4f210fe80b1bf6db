import { RegistryError } from '../errors/errors.ts'

/** Why somebody is turned away: also the `reason` of the metric, so there are few of them. */
const refusals = {
  /** No credentials at all. */
  missing: 'Unauthenticated',
  /** Something that cannot be credentials of this mode. */
  malformed: 'Unauthenticated',
  /** A kubeconfig that wants more than to show credentials. */
  kubeconfig: 'Unauthenticated',
  issuer: 'Unauthenticated',
  signature: 'Unauthenticated',
  /** Not yet valid, or no longer. */
  time: 'Unauthenticated',
  audience: 'Unauthenticated',
  /** A claim is missing or of the wrong type. */
  claims: 'Unauthenticated',
  /** The cluster does not know the caller. */
  cluster_unauthenticated: 'Unauthenticated',
  groups: 'Forbidden',
  /** A GroupBinding has no answer. */
  binding: 'Forbidden',
  /** No GroupBinding matches. */
  unbound: 'Forbidden',
  /** RBAC says no. */
  cluster_forbidden: 'Forbidden',
  cluster_away: 'Unavailable',
} as const

export type RefusalReason = keyof typeof refusals

/** Thrown inside the room, so that its door can count it before it becomes an answer. Never holds a part of a token. */
export class Refusal extends Error {
  readonly reason: RefusalReason
  /** Seconds after which to ask again. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    reason: RefusalReason,
    message: string,
    options: { cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(message, { cause: options.cause })
    this.reason = reason
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get result(): 'unauthenticated' | 'forbidden' | 'unavailable' {
    const reason = refusals[this.reason]
    if (reason === 'Unavailable') return 'unavailable'
    return reason === 'Forbidden' ? 'forbidden' : 'unauthenticated'
  }

  toRegistryError(): RegistryError {
    const { message, cause, retryAfterSeconds } = this
    const reason = refusals[this.reason]
    return new RegistryError(reason, message, {
      cause,
      headers: {
        ...(reason === 'Unauthenticated' && { 'WWW-Authenticate': this.#challenge() }),
        ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
      },
    })
  }

  /** RFC 6750, section 3: no error code where nothing was presented. */
  #challenge(): string {
    return this.reason === 'missing'
      ? 'Bearer realm="depot"'
      : 'Bearer realm="depot", error="invalid_token"'
  }
}
