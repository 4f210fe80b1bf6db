const allowed = new Set(['http:', 'https:', 'mailto:'])

/**
 * The target of a link of a README; undefined if it leads nowhere.
 *
 * @param filesUrl page of the README's folder, to which links are relative; a slash at their start means the root of a code
 * host
 *   there, not of the repository, so these lead nowhere
 */
export function targetOf(link: string, filesUrl: string | undefined): string | undefined {
  const absolute = safeHref(link)
  if (absolute !== undefined || filesUrl === undefined || /^\s*[/\\]/.test(link)) return absolute
  const target = URL.parse(link, filesUrl)
  return target?.origin === URL.parse(filesUrl)?.origin ? target?.href : undefined
}

/** An absolute URL with a scheme that runs no code; undefined for any other text. */
export function safeHref(text: string): string | undefined {
  try {
    const url = new URL(text.trim())
    return allowed.has(url.protocol) ? url.href : undefined
  } catch {
    return undefined
  }
}
