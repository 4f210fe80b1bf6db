const allowed = new Set(['http:', 'https:', 'mailto:'])

/** An address that a link may lead to: whole, and of a scheme that runs nothing. Undefined for every other one. */
export function safeHref(text: string): string | undefined {
  try {
    const url = new URL(text.trim())
    return allowed.has(url.protocol) ? url.href : undefined
  } catch {
    return undefined
  }
}
