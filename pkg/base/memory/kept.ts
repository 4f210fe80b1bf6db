/** Maximum number of bytes of a UTF-16 code unit in UTF-8. */
export const characterBytes = 3

/**
 * A copy in memory of its own, for long-lived bytes. `Buffer.from` puts short buffers into shared pieces of 64 kB, and a piece
 * stays in memory as long as any of its buffers.
 */
export function keptBytes(content: string | Uint8Array): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(content))
  if (typeof content === 'string') bytes.write(content)
  else bytes.set(content)
  return bytes
}

/**
 * A copy of a long-lived text: a slice, such as a part of a URL, would keep the whole text in memory. Half a surrogate pair
 * becomes U+FFFD, as in a URL.
 */
export const keptText = (text: string): string => Buffer.from(text).toString()
