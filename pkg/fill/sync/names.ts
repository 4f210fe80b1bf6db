import { hash } from 'node:crypto'

/** Kubernetes allows 253 characters; names derived from a name need some of them. */
const maxNameLength = 200
const maxLabelLength = 63

/** Joins parts and replaces characters that names of objects may not have. */
export function objectName(...parts: readonly string[]): string {
  return parts
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .replaceAll(/^-+|-+$/g, '')
}

/**
 * The name of a new object: readable if possible, otherwise with a digest.
 *
 * @param identity a text that only this object has
 */
export function freeName(
  readable: string,
  identity: string,
  isTaken: (name: string) => boolean,
): string {
  if (readable !== '' && readable.length <= maxNameLength && !isTaken(readable)) return readable
  const digest = hash('sha256', identity).slice(0, 8)
  return `${readable.slice(0, maxNameLength - 9).replace(/-+$/, '')}-${digest}`.replace(/^-/, 'x-')
}

/** A text as the value of a label: hashed if it is too long or has other characters. */
export function labelValue(text: string): string {
  const fits = text.length <= maxLabelLength && /^([A-Za-z0-9]([\w.-]*[A-Za-z0-9])?)?$/.test(text)
  return fits ? text : hash('sha256', text).slice(0, 40)
}
