/** Of a character of UTF-16, at most, in UTF-8. */
export const characterBytes = 3

/**
 * A copy, in bytes, of what is kept for long, behind as much room as asked for. Node puts short ones of many owners into one
 * piece of 64 kB, which lives for as long as any of them.
 */
export function keptBytes(content: string | Uint8Array, room = 0): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(room + Buffer.byteLength(content))
  if (typeof content === 'string') bytes.write(content, room)
  else bytes.set(content, room)
  return bytes
}
