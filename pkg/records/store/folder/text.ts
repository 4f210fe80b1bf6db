import { isDeepStrictEqual } from 'node:util'
import { type Document, parseDocument, stringify } from 'yaml'
import { isRecord } from '../../../api/v1alpha1/v1alpha1.ts'
import {
  documentsOf,
  type FieldPath,
  joinedDocuments,
  objectsIn,
  parseJson,
  parseYaml,
} from '../../folder/folder.ts'
import { changed } from './write-file.ts'

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
