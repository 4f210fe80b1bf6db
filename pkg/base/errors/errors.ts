/** The reasons of every error, and the error that callers see. pkg/base/serving makes answers of it. */

import { type AnswerReason, mayPass, type Reason, statusOf } from './reasons.ts'

export * from './reasons.ts'

/** An error with a reason of the table. A reason that callers catch needs no class of its own. */
export class ReasonError<R extends Reason = Reason> extends Error {
  override readonly name: string = 'ReasonError'
  readonly reason: R
  /** Milliseconds until the earliest retry; undefined if unknown. */
  readonly retryAfterMs: number | undefined

  constructor(
    reason: R,
    message: string,
    { cause, retryAfterMs }: { cause?: unknown; retryAfterMs?: number | undefined } = {},
  ) {
    super(message, { cause })
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * The error that becomes an answer; packages turn their own errors into it. Its message is for the caller: it says what to
 * do next. Stacks and internal addresses belong in `cause`, which only the log shows.
 */
export class RegistryError extends ReasonError<AnswerReason> {
  override readonly name = 'RegistryError'
  /** Response headers that go with the error, such as `Retry-After` (seconds). */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    reason: AnswerReason,
    message: string,
    options: { cause?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(reason, message, options)
    this.headers = options.headers ?? {}
  }

  get status(): ReturnType<typeof statusOf<AnswerReason>> {
    return statusOf(this.reason)
  }

  /** True if the same request may succeed later. */
  get retry(): boolean {
    return mayPass(this.reason)
  }
}

export function hasReason(thrown: unknown, reason: Reason): boolean {
  return thrown instanceof ReasonError && thrown.reason === reason
}

/** The answer to a question; undefined if what was asked for does not exist. @throws any other error */
export async function ifFound<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/** Calls a parser; undefined if it throws, because messages of parsers quote the text. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The value of a JSON text; undefined for any other text. */
export const jsonOf = (text: string): unknown => attempt(() => JSON.parse(text))

const separators: ReadonlySet<number> = new Set([0x2c, 0x5b, 0x7b])

/** Whether JSON may have more values than `max`. It counts separators, even those in strings, so never too few. */
export function hasMoreValues(json: Buffer, max: number): boolean {
  let count = 1
  for (const byte of json) if (separators.has(byte)) count += 1
  return count > max
}

export function badRequest(message: string, cause?: unknown): RegistryError {
  return new RegistryError('BadRequest', message, { cause })
}

export function notFound(message: string, cause?: unknown): RegistryError {
  return new RegistryError('NotFound', message, { cause })
}

/** For requests that are likely to succeed in a moment; the answer has `Retry-After`. */
export function unavailable(message: string, cause?: unknown): RegistryError {
  return new RegistryError('Unavailable', `${message}; try again in a moment`, { cause })
}

/**
 * The message of any thrown value, of one or more lines. If all addresses of a host refuse, Node's error has a code and no
 * message.
 */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return thrown.message || codeOf(thrown) || thrown.name
}

/** The code of an error of the system, such as `ENOENT`; empty if it has none. */
export function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : ''
  return typeof code === 'string' ? code : ''
}

/** @returns undefined if the file that is read does not exist */
export function ifExists<T>(read: Promise<T>): Promise<T | undefined> {
  return read.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
}

/**
 * Makes the text of somebody else fit for a message, a status or a log line: one line of at most 256 bytes, without control
 * characters and without marks that change the direction of text.
 */
export function printable(text: string, maxBytes = 256): string {
  const plain = text
    .slice(0, maxBytes * 4)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]+/gu, ' ')
    .trim()
  if (Buffer.byteLength(plain) <= maxBytes) return plain
  let cut = ''
  let bytes = 0
  for (const character of plain) {
    bytes += Buffer.byteLength(character)
    if (bytes > maxBytes - 3) break
    cut += character
  }
  return `${cut}…`
}
