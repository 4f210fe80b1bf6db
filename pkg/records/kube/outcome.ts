import * as z from 'zod'
import { messageOf, type Reason, ReasonError, RegistryError } from '../../base/errors/errors.ts'

/**
 * Consequences of the end of a request or a stream. `relist`: whether everything has to be read again, always or only if it
 * happens again without progress in between. `wait`: whether the next request waits for the backoff.
 */
const consequences = {
  StreamClosed: { relist: 'never', wait: false },
  /** Opening the next one at once would repeat for ever. */
  StreamTooShort: { relist: 'never', wait: true },
  StreamIdle: { relist: 'never', wait: false },
  Timeout: { relist: 'never', wait: true },
  Unreachable: { relist: 'never', wait: true },
  NoCredentials: { relist: 'never', wait: true },
  Unauthenticated: { relist: 'never', wait: true },
  Forbidden: { relist: 'never', wait: true },
  RateLimited: { relist: 'never', wait: true },
  ServerError: { relist: 'repeated', wait: true },
  RevisionTooNew: { relist: 'repeated', wait: true },
  /** Any other ERROR event. */
  ErrorEvent: { relist: 'repeated', wait: true },
  /** The server does not understand the request, for example an older one that cannot stream a list. */
  BadRequest: { relist: 'always', wait: true },
  DefinitionMissing: { relist: 'always', wait: true },
  RevisionExpired: { relist: 'always', wait: true },
  UndecodableAnswer: { relist: 'always', wait: true },
  RevisionWentBack: { relist: 'always', wait: true },
  RecordsDiffer: { relist: 'always', wait: true },
  /** A bug, which must not end the loop. */
  Internal: { relist: 'always', wait: true },
} as const satisfies Partial<Record<Reason, { relist: string; wait: boolean }>>

export type OutcomeReason = keyof typeof consequences

/** Flaws of a complete answer. */
const flaws = {
  NotJson: 'it is not JSON',
  NotAnEvent: 'a line is not an event',
  UnknownEventType: 'an event has an unknown type',
  NoMetadata: 'an object has no name or no resourceVersion',
  NoItems: 'a list has no items or no resourceVersion',
  ObjectTooLarge: 'an object is too large',
  Truncated: 'the last line is cut off',
} as const satisfies Partial<Record<Reason, string>>
export type Flaw = keyof typeof flaws

interface Details {
  readonly retryAfterMs?: number | undefined
  readonly code?: number | undefined
  readonly word?: string | undefined
  readonly flaw?: Flaw
  readonly err?: unknown
}

export class Outcome {
  readonly reason: OutcomeReason
  readonly message: string
  readonly retryAfterMs: number
  /** HTTP status of a refusal; undefined if there was no answer. */
  readonly code: number | undefined
  /** The `reason` in the Status of the API server, such as `AlreadyExists`; empty if there is none. */
  readonly word: string
  /** Only with the reason UndecodableAnswer. */
  readonly flaw: Flaw | undefined
  readonly err: unknown

  constructor(reason: OutcomeReason, message: string, details: Details = {}) {
    const { retryAfterMs = 0, code, word = '', flaw, err } = details
    this.reason = reason
    this.message = message
    this.retryAfterMs = retryAfterMs
    this.code = code
    this.word = word
    this.flaw = flaw
    this.err = err
  }

  get relist(): 'never' | 'repeated' | 'always' {
    return consequences[this.reason].relist
  }

  get wait(): boolean {
    return consequences[this.reason].wait
  }
}

export function undecodable(flaw: Flaw, err?: unknown): Outcome {
  return new Outcome('UndecodableAnswer', `the answer cannot be read: ${flaws[flaw]}`, {
    flaw,
    err,
  })
}

const Status = z.object({
  code: z.number().catch(0),
  reason: z.string().catch(''),
  message: z.string().catch(''),
  details: z
    .object({
      retryAfterSeconds: z.number().min(0).optional().catch(undefined),
      causes: z.array(z.object({ reason: z.string().optional() })).catch([]),
    })
    .catch({ causes: [] }),
})

/**
 * Reads a metav1.Status: the body of a refusal, or the object of an ERROR event.
 *
 * @param code status of the response; undefined for an event
 * @param retryAfterMs from the header of the response
 */
export function outcomeOfStatus(raw: unknown, code?: number, retryAfterMs?: number): Outcome {
  const parsed = Status.safeParse(raw)
  const status = parsed.success ? parsed.data : Status.parse({})
  const number = code ?? status.code
  const text = status.message || `HTTP ${number}`
  const seconds = status.details.retryAfterSeconds ?? 0
  return new Outcome(reasonOf(number, status, code === undefined), text, {
    retryAfterMs: retryAfterMs ?? seconds * 1000,
    code,
    word: status.reason,
  })
}

function reasonOf(code: number, status: z.infer<typeof Status>, event: boolean): OutcomeReason {
  const tooLarge = status.details.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge')
  if (tooLarge || status.message.includes('Too large resource version')) return 'RevisionTooNew'
  if (code === 410 || status.reason === 'Expired' || status.reason === 'Gone')
    return 'RevisionExpired'
  if (code === 429) return 'RateLimited'
  if (event) return 'ErrorEvent'
  if (code === 400 || code === 422) return 'BadRequest'
  if (code === 401) return 'Unauthenticated'
  if (code === 403) return 'Forbidden'
  if (code === 404) return 'DefinitionMissing'
  return 'ServerError'
}

/** Outcome of a failed connection, a truncated body or a missing credential. */
export function outcomeOfThrown(thrown: unknown): Outcome {
  if (thrown instanceof RegistryError && thrown.reason === 'Unauthenticated') {
    return new Outcome('NoCredentials', thrown.message, { err: thrown })
  }
  const { code } = thrown as { code?: unknown }
  if (code === 'UND_ERR_BODY_TIMEOUT') return new Outcome('StreamIdle', 'nothing came for too long')
  return new Outcome('Unreachable', messageOf(thrown), { err: thrown })
}

/** An object could not be read or written. `retryAfterMs` is how long the API server asks callers to wait. */
export class ApiError extends ReasonError {
  override readonly name = 'ApiError'
}

const reasonOfCode: Readonly<Record<number, Reason>> = {
  400: 'Invalid',
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'Forbidden',
  409: 'Conflict',
  410: 'NotFound',
  413: 'TooLarge',
  415: 'Invalid',
  422: 'Invalid',
}

const advice: Partial<Record<Reason, string>> = {
  Forbidden: 'give its Role or ClusterRole this right',
  Unauthenticated: 'the credentials of this process are not accepted',
}

/** @param doing the request, such as `patch versions/status team/network-1-0-0` */
export function apiErrorOf(outcome: Outcome, doing: string): ApiError {
  const { code = 0, word, message, retryAfterMs, err } = outcome
  const known = outcome.reason === 'NoCredentials' ? 'Unauthenticated' : reasonOfCode[code]
  const reason = code === 409 && word === 'AlreadyExists' ? word : (known ?? 'Unavailable')
  const hint = advice[reason] === undefined ? '' : `; ${advice[reason]}`
  return new ApiError(reason, `${doing}: ${message}${hint}`, {
    ...(retryAfterMs > 0 && { retryAfterMs }),
    cause: err,
  })
}
