import * as z from 'zod'
import { messageOf, RegistryError } from '../../base/errors/errors.ts'

/**
 * What follows when a request or a stream has ended. `relist`: whether everything has to be read again, or only when it
 * happens again without progress in between. `wait`: whether the next request waits for the backoff.
 */
const consequences = {
  /** The server closed the stream, as it does every few minutes. */
  closed: { relist: 'never', wait: false },
  /** It closed a stream at once. Opening the next one at once would go on all the time. */
  short: { relist: 'never', wait: true },
  /** Nothing came for so long that the connection must be dead. */
  idle: { relist: 'never', wait: false },
  deadline: { relist: 'never', wait: true },
  network: { relist: 'never', wait: true },
  credentials: { relist: 'never', wait: true },
  unauthorized: { relist: 'never', wait: true },
  forbidden: { relist: 'never', wait: true },
  throttled: { relist: 'never', wait: true },
  server: { relist: 'repeated', wait: true },
  /** The server has not yet seen the resourceVersion that was asked for. */
  ahead: { relist: 'repeated', wait: true },
  /** An ERROR event that is none of the others. */
  event: { relist: 'repeated', wait: true },
  /** The server does not understand the request; an older one cannot stream a list. */
  invalid: { relist: 'always', wait: true },
  missing: { relist: 'always', wait: true },
  expired: { relist: 'always', wait: true },
  decode: { relist: 'always', wait: true },
  /** A resourceVersion below the last one: another API server, or a restored etcd. */
  backwards: { relist: 'always', wait: true },
  /** A mistake of our own, which must not end the loop. */
  internal: { relist: 'always', wait: true },
} as const

/** Stable and bounded: also the `reason` of metrics and log lines. */
export type Reason = keyof typeof consequences

/** What can be wrong with an answer that came whole. */
const flaws = {
  json: 'it is not JSON',
  event: 'a line is not an event',
  type: 'an event has an unknown type',
  metadata: 'an object has no name or no resourceVersion',
  page: 'a list has no items or no resourceVersion',
  size: 'an object is too large',
  truncated: 'the last line is cut off',
} as const
export type Flaw = keyof typeof flaws

interface Details {
  readonly retryAfterMs?: number | undefined
  readonly code?: number | undefined
  readonly word?: string | undefined
  readonly flaw?: Flaw
  readonly err?: unknown
}

export class Outcome {
  readonly reason: Reason
  readonly message: string
  readonly retryAfterMs: number
  /** HTTP status of a refusal; undefined where there was no answer. */
  readonly code: number | undefined
  /** The `reason` of the API server's own Status, such as `AlreadyExists`; empty: none. */
  readonly word: string
  /** Only with the reason `decode`. */
  readonly flaw: Flaw | undefined
  readonly err: unknown

  constructor(reason: Reason, message: string, details: Details = {}) {
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

  /** Whether a watch that ended so without anything newer may have missed changes: no bookmark said that there were none. */
  get mayHideChanges(): boolean {
    return ['closed', 'short', 'idle', 'deadline', 'network'].includes(this.reason)
  }
}

export function undecodable(flaw: Flaw, err?: unknown): Outcome {
  return new Outcome('decode', `the answer cannot be read: ${flaws[flaw]}`, { flaw, err })
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
 * @param retryAfterMs what the response's own header says
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

function reasonOf(code: number, status: z.infer<typeof Status>, event: boolean): Reason {
  const tooLarge = status.details.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge')
  if (tooLarge || status.message.includes('Too large resource version')) return 'ahead'
  if (code === 410 || status.reason === 'Expired' || status.reason === 'Gone') return 'expired'
  if (code === 429) return 'throttled'
  if (event) return 'event'
  if (code === 400 || code === 422) return 'invalid'
  if (code === 401) return 'unauthorized'
  if (code === 403) return 'forbidden'
  if (code === 404) return 'missing'
  return 'server'
}

/** What a failed connection, a broken body or a missing credential means. */
export function outcomeOfThrown(thrown: unknown): Outcome {
  if (thrown instanceof RegistryError && thrown.reason === 'Unauthenticated') {
    return new Outcome('credentials', thrown.message, { err: thrown })
  }
  const { code } = thrown as { code?: unknown }
  if (code === 'UND_ERR_BODY_TIMEOUT') return new Outcome('idle', 'nothing came for too long')
  return new Outcome('network', messageOf(thrown), { err: thrown })
}
