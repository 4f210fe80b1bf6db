/**
 * What an upstream said, fit for a status or a log line: one line, without control characters and marks that change the
 * direction of text, at most 256 bytes.
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

/** A URL without its query, fragment and userinfo. */
export function shownUrl(url: URL | string): string {
  const parsed = typeof url === 'string' ? URL.parse(url) : url
  if (parsed === null) return 'a URL that cannot be read'
  return printable(`${parsed.protocol}//${parsed.host}${parsed.pathname}`)
}
