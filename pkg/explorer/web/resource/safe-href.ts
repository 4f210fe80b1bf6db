const allowed = new Set(['http:', 'https:', 'mailto:'])

/** An absolute URL with a scheme that runs no code; undefined for any other text. */
export function safeHref(text: string): string | undefined {
  try {
    const url = new URL(text.trim())
    return allowed.has(url.protocol) ? url.href : undefined
  } catch {
    return undefined
  }
}
