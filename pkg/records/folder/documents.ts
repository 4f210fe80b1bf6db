import { isNode, isScalar, LineCounter, type ParsedNode, parseAllDocuments } from 'yaml'
import { attempt, messageOf } from '../../base/errors/errors.ts'
import { readPlainYaml } from './plain-yaml.ts'

/** A part of a file that is parsed alone, and the number of its first line, from 1. */
export interface DocumentPart {
  readonly text: string
  readonly line: number
}

export type FieldPath = readonly (string | number)[]

/** A parsed document. Lines are counted from 0 at the beginning of its text. */
export type Document =
  | {
      readonly ok: true
      readonly value: unknown
      /** The line of a field, or of the innermost existing node around it. */
      lineOf(path: FieldPath): number | undefined
      readonly linesAreCheap: boolean
    }
  | {
      readonly ok: false
      readonly message: string
      readonly line: number | undefined
      /** The part that could be read. */
      readonly value: unknown
    }

/** Parsing this many characters of YAML takes about a second, without interruption. */
const maxYamlLength = 4 * 1024 * 1024
/** Finding the lines in JSON requires parsing it as YAML, too. */
const maxLocatedJsonLength = 256 * 1024
/** The check for equal keys compares each with each. This many comparisons take less than a second. */
const maxKeyComparisons = 10_000_000

/**
 * Splits a file at its document markers. A line that starts with `---` always is one, even inside a block scalar, so a mistake
 * in one document affects no other. `%YAML 1.2` belongs to the document after the marker that follows it.
 */
export function* documentsOf(text: string): Generator<DocumentPart> {
  let start = 0
  let line = 1
  for (let marker = markerFrom(text, 0); ; marker = markerFrom(text, marker + 1)) {
    const isLast = marker >= text.length
    const end = isLast ? marker : directivesBefore(text, start, marker)
    if (isLast || end > start) {
      const slice = text.slice(start, end)
      yield { text: slice, line }
      line += newlinesIn(slice)
      start = end
    }
    if (isLast) return
  }
}

export function newlinesIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

export function parseYaml(text: string): Document {
  if (text.length > maxYamlLength) {
    const message = 'is too large for one document; put --- between objects, or write JSON'
    return { ok: false, message, line: 0, value: undefined }
  }
  const mark = /^\uFEFF/m.exec(text)
  if (mark !== null) {
    const message = 'has a byte order mark after the beginning of the file; remove it'
    return { ok: false, message, line: newlinesIn(text.slice(0, mark.index)), value: undefined }
  }
  const plain = readPlainYaml(text)
  if (plain === undefined) return withLineEnds(parseAnyYaml(text), text)
  const { value, offset } = plain
  let located: Document | undefined
  const lineOf = (path: FieldPath): number | undefined => {
    // An item of a list is read as a sequence of one item. Both begin in the same line.
    const isFirst = path.length === 0 || (path.length === 1 && path[0] === 0)
    if (isFirst) return newlinesIn(text.slice(0, offset))
    located ??= parseAnyYaml(text)
    return located.ok ? located.lineOf(path) : undefined
  }
  return { ok: true, value, lineOf, linesAreCheap: true }
}

/** Most tools read text whose lines end with CR alone as one line, so it fails somewhere, or is one comment. */
function withLineEnds(document: Document, text: string): Document {
  const isRead = document.ok && document.value !== null
  const at = isRead ? -1 : text.search(/\r(?!\n)/)
  if (at === -1) return document
  const message = 'has lines that end with a carriage return alone; end them with a line feed'
  return { ok: false, message, line: newlinesIn(text.slice(0, at)), value: undefined }
}

/** Reads full YAML, which takes twenty times as long. */
export function parseAnyYaml(text: string): Document {
  const lines = new LineCounter()
  const lineAt = (offset: number): number => Math.max(0, lines.linePos(offset).line - 1)
  let comparisons = 0
  const uniqueKeys = (a: ParsedNode, b: ParsedNode): boolean => {
    if (++comparisons > maxKeyComparisons) throw new Error('has too many keys; write JSON')
    return isScalar(a) && isScalar(b) && a.value === b.value
  }
  const options = { lineCounter: lines, prettyErrors: false, merge: true, uniqueKeys } as const
  try {
    const documents = parseAllDocuments(text, options)
    const [document] = documents
    if ('empty' in documents || document === undefined)
      return { ok: true, value: null, lineOf: () => 0, linesAreCheap: true }
    const error = documents.flatMap(({ errors }) => errors)[0]
    if (documents.length > 1 || error !== undefined) {
      const message = error?.message ?? 'has text after its end; put --- between documents'
      const offset = error?.pos[0] ?? documents[1]?.range[0] ?? 0
      return { ok: false, message, line: lineAt(offset), value: attempt(() => document.toJS()) }
    }
    const lineOf = (path: FieldPath): number | undefined => {
      for (let length = path.length; length >= 0; length--) {
        const node = document.getIn(path.slice(0, length), true)
        if (isNode(node) && node.range) return lineAt(node.range[0])
      }
      return 0
    }
    return { ok: true, value: document.toJS(), lineOf, linesAreCheap: true }
  } catch (error) {
    return { ok: false, message: messageOf(error), line: undefined, value: undefined }
  }
}

/** Undefined if the text is not JSON: it may still be YAML. */
export function parseJson(text: string): Document | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (text.length <= maxLocatedJsonLength) return undefined
    const line = /\(line (\d+)/.exec(messageOf(error))?.[1]
    return {
      ok: false,
      message: messageOf(error),
      line: line === undefined ? undefined : Number(line) - 1,
      value: undefined,
    }
  }
  let located: Document | undefined
  const lineOf = (path: FieldPath): number | undefined => {
    if (text.length > maxLocatedJsonLength) return undefined
    located ??= parseYaml(text)
    return located.ok ? located.lineOf(path) : undefined
  }
  return { ok: true, value, lineOf, linesAreCheap: false }
}

/** Finds the next line that starts a document, or the end of the text. */
function markerFrom(text: string, from: number): number {
  for (let at = text.indexOf('\n---', from); at !== -1; at = text.indexOf('\n---', at + 1)) {
    const next = text[at + 4]
    if (next === undefined || ' \t\r\n'.includes(next)) return at + 1
  }
  return text.length
}

const blankOrComment = /^[ \t]*(?:#[^\n]*|\r)?$/
const documentEnd = /^\.\.\.(?:[ \t]+#[^\n]*|[ \t]*\r?)$/

/**
 * Finds the directives right before a marker, and the comments among them: at the start, or after a line of `...`.
 *
 * @returns the marker if there are none
 */
function directivesBefore(text: string, start: number, marker: number): number {
  let found = false
  let at = marker
  for (const { line, from } of linesUp(text, start, marker)) {
    if (documentEnd.test(line)) break
    if (line[0] === '%') found = true
    else if (!blankOrComment.test(line)) return marker
    at = from
  }
  return found ? at : marker
}

/** Iterates over lines from the last to the first. @param end right after a newline */
function* linesUp(text: string, start: number, end: number) {
  for (let at = end; at > start; ) {
    const from = at - 2 < start ? start : Math.max(start, text.lastIndexOf('\n', at - 2) + 1)
    yield { line: text.slice(from, at - 1), from }
    at = from
  }
}

/** Joins the text of documents. A directive must follow the end of the previous document. */
export function joinedDocuments(documents: readonly string[]): string {
  return documents
    .map((text, index) => {
      const before = documents[index - 1]
      if (!before || !startsWithDirective.test(text) || isEnded(before)) return text
      return `${before.endsWith('\r\n') ? '...\r\n' : '...\n'}${text}`
    })
    .join('')
}

const startsWithDirective = /^(?:[ \t]*(?:#[^\n]*|\r)?\n)*%/

function isEnded(text: string): boolean {
  for (const { line } of linesUp(text, 0, text.length)) {
    if (documentEnd.test(line)) return true
    if (!blankOrComment.test(line)) return false
  }
  return false
}
