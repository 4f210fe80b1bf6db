/**
 * A copy of text that is kept for long: what was cut out of longer text, such as a URL, keeps all of that in memory. Half of
 * a surrogate pair becomes U+FFFD, as it does in a URL.
 */
export const keptText = (text: string): string => Buffer.from(text).toString()
