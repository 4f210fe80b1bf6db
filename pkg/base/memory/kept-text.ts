/**
 * A copy of a text that is kept for long: a slice of a longer text, such as a part of a URL, keeps all of it in memory. Half
 * a surrogate pair becomes U+FFFD, as it does in a URL.
 */
export const keptText = (text: string): string => Buffer.from(text).toString()
