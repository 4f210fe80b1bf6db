/** Texts of manifests: edits that keep everything else, damage, and writes that readers see as a whole. */

import { existsSync, linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { mkdir, open, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Document, parseDocument, stringify } from 'yaml'
import { isRecord } from '../../../api/v1alpha1/v1alpha1.ts'
import { codeOf, messageOf } from '../../../base/errors/errors.ts'
import {
  decodeText,
  documentsOf,
  type FieldPath,
  identityOf,
  joinedDocuments,
  type ManifestFile,
  objectsIn,
  parseJson,
  parseYaml,
  type Rejection,
  signatureOf,
} from '../../folder/folder.ts'
import { ApiError } from '../../kube/kube.ts'

/**
 * Creates or replaces a file, with its folder. Readers find the whole old text or the whole new one, even after a power
 * failure.
 *
 * @returns the identity of the file, by which a scanner recognizes it
 * @param expected the text to replace; another text stays. Default: any text is replaced
 * @param aside the path to which the old file is moved
 * @throws ApiError Conflict if the file has another text, Forbidden if this user may not write it, otherwise Unavailable
 */
export async function writeFile(
  path: string,
  text: string,
  { expected, aside }: { readonly expected?: string | undefined; readonly aside?: string } = {},
): Promise<string> {
  try {
    await mkdir(dirname(path), { recursive: true })
    const { target, mode } = await existing(path)
    const temporary = temporaryOf(target)
    try {
      await using file = await open(temporary, 'w', mode)
      await file.writeFile(text)
      await file.datasync()
      const identity = identityOf(signatureOf(await file.stat({ bigint: true })))
      if (expected !== undefined) replace(target, temporary, expected)
      else {
        if (aside !== undefined) renameSync(target, aside)
        renameSync(temporary, target)
      }
      return identity
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw failure(path, error)
  }
}

/** A hidden name, which is not a manifest. A file that a kill leaves is overwritten next time, or removed with its manifest. */
function temporaryOf(path: string): string {
  return join(dirname(path), `.${basename(path).slice(0, 200)}.depot-tmp`)
}

/**
 * Replaces a file that has the expected text. A second name of the old file shows whether an editor that had opened it before
 * wrote into it meanwhile. Then the old file is restored. Synchronous, to keep that time short.
 */
function replace(target: string, temporary: string, expected: string): void {
  const old = `${temporary}-old`
  const isLinked = hasSecondName(target, old)
  try {
    if (!holds(target, expected)) throw changed(target)
    renameSync(temporary, target)
    if (!isLinked || holds(old, expected)) return
    renameSync(old, target)
    throw changed(target)
  } finally {
    rmSync(old, { force: true })
  }
}

/** Makes a hard link. Some file systems have none, and a user may not link to a file of another user. */
function hasSecondName(target: string, name: string): boolean {
  rmSync(name, { force: true })
  try {
    linkSync(target, name)
    return true
  } catch {
    return false
  }
}

function holds(path: string, expected: string): boolean {
  const read = decodeText(readFileSync(path))
  return 'text' in read && read.text === expected
}

/** Error for a file or an object that changed since it was read. */
export function changed(what: string, cause?: unknown): ApiError {
  const message = `${what} was changed in the meantime; read it again`
  return new ApiError('Conflict', message, { cause })
}

/**
 * Removes a file, and the text that a killed process was writing to it.
 *
 * @param expected the text to remove; another text stays. Default: any text is removed, or none
 * @throws ApiError Conflict if the file does not have the expected text
 */
export function removeFile(path: string, expected?: string): void {
  try {
    if (expected !== undefined && !holds(path, expected)) throw changed(path)
    for (const name of [path, temporaryOf(path)]) rmSync(name, { force: true })
  } catch (error) {
    if (error instanceof ApiError) throw error
    if (codeOf(error) === 'ENOENT') return
    throw failure(path, error)
  }
}

/** Resolves links, because the target is written, not the link. */
async function existing(path: string): Promise<{ target: string; mode: number }> {
  try {
    const target = await realpath(path)
    return { target, mode: (await stat(target)).mode }
  } catch {
    return { target: path, mode: 0o644 }
  }
}

function failure(path: string, error: unknown): ApiError {
  const denied = ['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error))
  const hint = denied ? '; let this user write to the folder of manifests' : ''
  const message = `${path} cannot be written: ${messageOf(error)}${hint}`
  return new ApiError(denied ? 'Forbidden' : 'Unavailable', message, { cause: error })
}

type Fields = Readonly<Record<string, unknown>>

/** The text of a file of one object. */
export function textOf(value: unknown): string {
  return stringify(value, { lineWidth: 0 })
}

/**
 * Returns the text with a changed object, and everything else, comments included, unchanged.
 *
 * @param isIt finds the object
 * @param change returns undefined to remove the object
 * @returns undefined if nothing would be left
 * @throws ApiError Conflict if the object is not in the text
 */
export function rewritten(
  file: string,
  text: string,
  isIt: (value: Fields) => boolean,
  change: (before: Fields) => Fields | undefined,
): string | undefined {
  const parts = partsOf(file, text)
  for (const [part, current] of parts.entries()) {
    const parsed = isJson(file) ? (parseJson(current) ?? parseYaml(current)) : parseYaml(current)
    if (!parsed.ok) continue
    for (const { value, path } of objectsIn(parsed.value)) {
      if (!isRecord(value) || !isIt(value)) continue
      const after = change(value)
      if (after === undefined && path.length === 0) {
        const rest = joinedDocuments(parts.toSpliced(part, 1))
        return rest.split('\n').every(isEmptyLine) ? undefined : rest
      }
      const edited = isJson(file)
        ? editedJson(current, path, after)
        : editedYaml(current, path, value, after)
      return joinedDocuments(parts.with(part, edited))
    }
  }
  throw changed(file)
}

/** A line with nothing but a comment, or the marker between two documents. */
const isEmptyLine = (line: string): boolean => /^(?:\s|---)*(?:#|$)/.test(line)

function partsOf(file: string, text: string): string[] {
  return isJson(file) ? [text] : Array.from(documentsOf(text), (slice) => slice.text)
}

function isJson(file: string): boolean {
  return file.toLowerCase().endsWith('.json')
}

function editedJson(text: string, path: FieldPath, after: unknown): string {
  const document = parseDocument(text)
  if (after === undefined) document.deleteIn(path)
  else if (path.length > 0) document.setIn(path, after)
  return `${JSON.stringify(path.length > 0 ? document.toJS() : after, undefined, 2)}\n`
}

function editedYaml(
  text: string,
  path: FieldPath,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>> | undefined,
): string {
  const document = parseDocument(text)
  if (after === undefined) document.deleteIn(path)
  else {
    try {
      edit(document, path, before, after)
    } catch {
      // This happens behind an alias, for example. Then the whole object is written again, without its comments.
      if (path.length === 0) return `${/^---\s/m.test(text) ? '---\n' : ''}${textOf(after)}`
      document.setIn(path, document.createNode(after))
    }
  }
  const edited = document.toString({ lineWidth: 0 })
  return text.endsWith('\n') && !edited.endsWith('\n') ? `${edited}\n` : edited
}

function edit(document: Document, path: FieldPath, before: unknown, after: unknown): void {
  if (isDeepStrictEqual(before, after)) return
  if (!isRecord(before) || !isRecord(after) || Object.keys(before).length === 0) {
    document.setIn(path, document.createNode(after))
    return
  }
  for (const field of Object.keys(before)) {
    if (!(field in after)) document.deleteIn([...path, field])
  }
  for (const [field, value] of Object.entries(after)) {
    edit(document, [...path, field], before[field], value)
  }
}

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
