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

/** An object, and where it stands in the text of a file. */
export interface PlacedObject {
  /** Number of the YAML document, from 0. */
  readonly part: number
  /** Where it stands in that; empty: it is all of it. */
  readonly path: FieldPath
  readonly value: Readonly<Record<string, unknown>>
}

/** The objects of a file; `broken` where some part cannot be read, and may hold others. */
export function placedObjects(
  file: string,
  text: string,
): { readonly objects: readonly PlacedObject[]; readonly broken: string | undefined } {
  const objects: PlacedObject[] = []
  let broken: string | undefined
  for (const [part, document] of partsOf(file, text).entries()) {
    const parsed = isJson(file) ? (parseJson(document) ?? parseYaml(document)) : parseYaml(document)
    if (!parsed.ok) {
      broken ??= parsed.message
      continue
    }
    for (const { value, path } of objectsIn(parsed.value)) {
      if (isRecord(value)) objects.push({ part, path, value })
    }
  }
  return { objects, broken }
}

/** The text of a file of one object. */
export function textOf(value: unknown): string {
  return stringify(value, { lineWidth: 0 })
}

/**
 * The text with an object changed, and everything else, comments included, as it was.
 *
 * @param after undefined: without the object
 * @returns undefined where nothing would be left
 */
export function rewritten(
  file: string,
  text: string,
  { part, path, value: before }: PlacedObject,
  after: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  const parts = partsOf(file, text)
  const current = parts[part] ?? ''
  if (after === undefined && path.length === 0) {
    const rest = joinedDocuments(parts.toSpliced(part, 1))
    return /^(?:\s|---|#.*)*$/.test(rest) ? undefined : rest
  }
  const edited = isJson(file)
    ? editedJson(current, path, after)
    : editedYaml(current, path, before, after)
  return joinedDocuments(parts.with(part, edited))
}

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
      // Behind an alias, say: then this object is written again as a whole, without its comments.
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
