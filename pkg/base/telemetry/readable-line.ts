interface ErrorFields {
  readonly message?: string
  readonly reason?: unknown
  readonly stack?: string
}

/**
 * A line of the log for people: local time, level, message, fields. Requests have their four most telling fields. An
 * unexpected error has its stack.
 *
 * @param line a JSON object; other text stays as it is
 */
export function readableLine(line: string): string {
  if (!line.startsWith('{')) return `${line}\n`
  const {
    time,
    level,
    msg,
    component: _,
    err,
    ...fields
  } = JSON.parse(line) as Record<string, unknown>
  const { message, reason, stack } = (err ?? {}) as ErrorFields
  const { method, path, status, durationMs } = fields
  const said =
    msg === 'request'
      ? [method, path, status, `${Math.round(Number(durationMs))} ms`].join(' ')
      : [msg, ...Object.entries(fields).map(([key, value]) => `${key}=${shown(value)}`)].join(' ')
  const isUnexpected = level === 'error' && reason === undefined && stack !== undefined
  const problem = isUnexpected ? `\n${stack}` : message === undefined ? '' : `: ${message}`
  const text = `${said}${problem}`.split('\n').map(printed).join('\n  ')
  return `${new Date(String(time)).toTimeString().slice(0, 8)} ${String(level).padEnd(5)} ${text}\n`
}

const shown = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value)

/** Escapes control characters, because clients and upstreams choose parts of a line. */
const printed = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
