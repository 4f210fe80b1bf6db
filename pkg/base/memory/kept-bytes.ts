/** The most bytes that a UTF-16 code unit takes in UTF-8. */
export const characterBytes = 3

/**
 * A copy in memory of its own, for bytes that are kept for long. `Buffer.from` puts short ones of many owners into one piece
 * of 64 kB, which lives for as long as any of them.
 */
export function keptBytes(content: string | Uint8Array): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(content))
  if (typeof content === 'string') bytes.write(content)
  else bytes.set(content)
  return bytes
}
