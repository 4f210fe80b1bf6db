import { messageOf, printable } from '../../base/errors/errors.ts'
import { saidBy } from '../../base/http/http.ts'

/** A URL without its query, fragment and userinfo. */
export function shownUrl(url: URL | string): string {
  const parsed = typeof url === 'string' ? URL.parse(url) : url
  if (parsed === null) return 'a URL that cannot be read'
  return printable(`${parsed.protocol}//${parsed.host}${parsed.pathname}`)
}

/** Says what a host answered, in its own words. */
export function refusalText(url: URL, status: number, body: Buffer): string {
  const said = saidBy(body.subarray(0, maxSaidBytes).toString())
  return `${shownUrl(url)} answered with status ${status}${said && ` ("${said}")`}`
}

/** Longer pages are not answers of an API. */
const maxSaidBytes = 64 * 1024
const maxCauseBytes = 1024

/** Finds the first message of the causes that the error's own message does not repeat, such as the storage's answer. */
export function causeOf(error: unknown): string | undefined {
  const own = messageOf(error)
  let cause = error instanceof Error ? error.cause : undefined
  while (cause instanceof Error && own.includes(messageOf(cause))) cause = cause.cause
  return cause === undefined ? undefined : printable(messageOf(cause), maxCauseBytes)
}

/** The message of an error for operators: with its cause, and without what it advises clients. */
export function explained(error: unknown): string {
  const cause = causeOf(error)
  const message = messageOf(error)
  if (cause === undefined) return message
  return `${message.replace(/; (?:tell its operator|try again (?:later|in a moment))$/, '')} (${cause})`
}
