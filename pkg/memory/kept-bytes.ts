/** Of a character of UTF-16, at most, in UTF-8. */
export const characterBytes = 3

/**
 * Bytes of text that are kept for long, behind as much room as asked for. Node puts short ones of many owners into one piece
 * of 64 kB, which lives for as long as any of them.
 */
export function keptBytes(content: string | Uint8Array, roomBytes = 0): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(roomBytes + Buffer.byteLength(content))
  if (typeof content === 'string') bytes.write(content, roomBytes)
  else bytes.set(content, roomBytes)
  return bytes
}
