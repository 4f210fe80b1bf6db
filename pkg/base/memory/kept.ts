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

/**
 * A copy of a text that is kept for long: a slice of a longer text, such as a part of a URL, keeps all of it in memory. Half
 * a surrogate pair becomes U+FFFD, as it does in a URL.
 */
export const keptText = (text: string): string => Buffer.from(text).toString()
