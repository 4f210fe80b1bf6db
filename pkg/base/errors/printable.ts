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
