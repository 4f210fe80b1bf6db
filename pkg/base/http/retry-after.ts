/**
 * Milliseconds that a server asks clients to wait (RFC 9110, section 10.2.3); undefined if it does not.
 *
 * @param header seconds, or a date
 * @param nowMs milliseconds since 1970
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (/^\d+$/.test(text)) return Number(text) * 1000
  // Date.parse also accepts texts that are not HTTP dates, such as -3.
  const ms = /^[A-Z][a-z]{2,8},? .*\d$|GMT$/.test(text) ? Date.parse(text) - nowMs : Number.NaN
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
