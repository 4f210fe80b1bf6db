import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { decodeText, type ManifestFile, type Rejection } from '../../folder/folder.ts'

/** Whether a file has a valid object, or the status of one. */
export function hasObject({ entries }: ManifestFile<unknown, unknown>): boolean {
  return entries.some(({ object, status }) => object !== undefined || status !== undefined)
}

/**
 * Whether a file without an object is damaged, as by a full disk or a power failure: it is empty, cannot be parsed, or its end
 * is missing. A spec with a mistake of a person is not damage.
 */
export function isDamaged(bytes: Buffer, rejections: readonly Rejection[]): boolean {
  const read = decodeText(bytes)
  if ('text' in read && isBlank(read.text)) return true
  if (rejections.length === 0) return false
  // Sync writes the status last.
  const isCut = 'text' in read && !/^status:/m.test(read.text)
  return rejections.every(({ reason, field = '' }) => {
    return (
      reason === 'InvalidSyntax' || (reason === 'Invalid' && (isCut || /^status\b/.test(field)))
    )
  })
}

/** Whether a text has only comments, because a full disk or a person emptied the file. */
export function isBlank(text: string): boolean {
  return text.split('\n').every((line) => /^[\s\0]*(?:#.*|---\s*)?$/.test(line))
}

/** The comments of a blank text, to be put before another one. */
export function commentsIn(text: string): string {
  const comments = text.replaceAll('\0', '').trim()
  return comments === '' ? '' : `${comments}\n`
}

/** A free name next to a damaged file, or one with the same bytes. Hidden files are not read as manifests. */
export function asideOf(dir: string, file: string): string {
  const name = `.${basename(file).slice(0, 200)}.broken`
  const bytes = readFileSync(join(dir, file))
  for (let count = 1; ; count += 1) {
    const aside = join(dirname(file), count === 1 ? name : `${name}-${count}`)
    const path = join(dir, aside)
    if (!existsSync(path) || readFileSync(path).equals(bytes)) return aside
  }
}
