const longest = 2048

/**
 * A path of the explorer that a login may redirect to. Anything else becomes `/`.
 *
 * @param asked value of the query parameter
 * @param origin of the explorer
 */
export function safeReturnTo(asked: string | undefined, origin: string): string {
  if (asked === undefined || asked.length > longest) return '/'
  // One slash, not followed by a character that browsers read as a second slash, and no characters that browsers drop or
  // convert.
  if (!/^\/(?![/\\])/.test(asked) || /[\\\p{Cc}\u2028\u2029]/u.test(asked)) return '/'
  const url = URL.parse(asked, origin)
  if (url === null || url.origin !== origin) return '/'
  const path = url.pathname + url.search + url.hash
  // Resolving turns `/.//host` into `//host`.
  if (path.startsWith('//') || isBelow(decoded(url.pathname), '/auth')) return '/'
  return path
}

function isBelow(path: string, folder: string): boolean {
  const lower = path.toLowerCase()
  return lower === folder || lower.startsWith(`${folder}/`)
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
