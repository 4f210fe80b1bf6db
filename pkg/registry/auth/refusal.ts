import { RegistryError } from '../../base/errors/errors.ts'

/** Why a caller is turned away: also the `reason` of the metric, so there are few of them. */
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
  /** A GroupBinding cannot be evaluated. */
  binding: 'Forbidden',
  /** No GroupBinding matches. */
  unbound: 'Forbidden',
  /** RBAC says no. */
  cluster_forbidden: 'Forbidden',
  /** The cluster that has to decide cannot be reached. */
  cluster_away: 'Unavailable',
  /** The keys of the issuer are not known, or not as of now. */
  issuer_away: 'Unavailable',
  /** Too many wait already. */
  busy: 'Unavailable',
} as const

export type RefusalReason = keyof typeof refusals

/**
 * Thrown within the package, so that its entry can count it before it becomes an answer. It shows claims, which are for the
 * eyes of the caller who has the token, and never a token or a part of one.
 */
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

const longestQuote = 200

/** A value of a claim for a message: as JSON, and no longer than can be read. */
export function quote(value: unknown): string {
  let text: string
  try {
    text = JSON.stringify(value) ?? 'nothing'
  } catch {
    // JSON.parse reads deeper than JSON.stringify writes.
    return 'nested too deeply'
  }
  return text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text
}
