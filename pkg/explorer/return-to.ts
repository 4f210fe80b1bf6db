const longest = 2048

/**
 * Where a login may lead back to: a path of the explorer itself. Anything else becomes `/`.
 *
 * @param asked as it stands in the query
 * @param origin of the explorer
 */
export function safeReturnTo(asked: string | undefined, origin: string): string {
  if (asked === undefined || asked.length > longest) return '/'
  // One slash, then something that no browser reads as a second one; nothing that browsers drop or turn around.
  if (!/^\/(?![/\\])/.test(asked) || /[\\\p{Cc}\u2028\u2029]/u.test(asked)) return '/'
  const url = URL.parse(asked, origin)
  if (url === null || url.origin !== origin) return '/'
  const path = url.pathname + url.search + url.hash
  // `/.//host` becomes `//host` when it is resolved.
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
