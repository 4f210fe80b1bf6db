/** The limit of file systems and of the schema of a Version. */
const maxNameBytes = 255

/**
 * Makes the name of a stored file. The stem is cut if the name would be too long: a version may have 256 characters.
 *
 * @param tail is never cut, because it contains the digest that makes names differ
 */
export function storedName(stem: string, tail: string): string {
  const bytes = Buffer.from(stem).subarray(0, maxNameBytes - Buffer.byteLength(tail))
  // Drops a character that was cut at the end.
  return new TextDecoder().decode(bytes, { stream: true }) + tail
}
