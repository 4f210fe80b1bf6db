import { createHash } from 'node:crypto'

/** Kubernetes allows 253 characters; what is derived from a name needs some of them. */
const maxNameLength = 200
const maxLabelLength = 63

/** Parts of a name in the characters that names of objects may have. */
export function objectName(...parts: readonly string[]): string {
  return parts
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .replaceAll(/^-+|-+$/g, '')
}

/**
 * The name of a new object: readable where it can be, else with a digest of what it is the name of.
 *
 * @param identity says what the object is, unlike any other
 */
export function freeName(
  readable: string,
  identity: string,
  isTaken: (name: string) => boolean,
): string {
  if (readable !== '' && readable.length <= maxNameLength && !isTaken(readable)) return readable
  const digest = createHash('sha256').update(identity).digest('hex').slice(0, 8)
  return `${readable.slice(0, maxNameLength - 9).replace(/-+$/, '')}-${digest}`.replace(/^-/, 'x-')
}

/** A text as the value of a label: hashed where it is too long or has other characters. */
export function labelValue(text: string): string {
  const fits = text.length <= maxLabelLength && /^([A-Za-z0-9]([\w.-]*[A-Za-z0-9])?)?$/.test(text)
  return fits ? text : createHash('sha256').update(text).digest('hex').slice(0, 40)
}
