/** What file systems take, and what the schema of a Version allows. */
const maxNameBytes = 255

/**
 * The name of a stored file, whose stem is cut where both are too long together: a version may have 256 characters.
 *
 * @param tail stays whole: it holds the digest, by which names differ
 */
export function storedName(stem: string, tail: string): string {
  const bytes = Buffer.from(stem).subarray(0, maxNameBytes - Buffer.byteLength(tail))
  // A character that is cut at the end is left out, too.
  return new TextDecoder().decode(bytes, { stream: true }) + tail
}
