import { hash } from 'node:crypto'
import {
  type FieldIssue,
  formatPath,
  ignoredBindingIssue,
  mistakesIn,
  nameIssue,
  type ObjectKey,
  publicLabelIssue,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Turns } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import {
  type Document,
  type DocumentPart,
  documentsOf,
  type FieldPath,
  newlinesIn,
  parseJson,
  parseYaml,
} from './documents.ts'
import type { Keeper } from './keeper.ts'
import {
  guessOf,
  inherit,
  isList,
  type ListHeader,
  objectsIn,
  type Reading,
  readObject,
  type StatusReading,
} from './read-object.ts'
import type { Rejection } from './rejections.ts'
import type { FileText } from './tree.ts'

/** An object in a file. */
export interface Entry<O> {
  readonly key: ObjectKey
  readonly line: number | undefined
  /** Undefined if the object was rejected, or only its status is here. */
  readonly object: O | undefined
  readonly status?: StatusReading | undefined
  /** Fields that have no meaning. */
  readonly unknown?: readonly FieldIssue[] | undefined
  /** A mistake in a valid object: a value that cannot work or has no effect. */
  readonly mistake?: FieldIssue | undefined
  readonly written?: Written | undefined
}

/** An object as its file has it. */
export interface Written {
  readonly value: Readonly<Record<string, unknown>>
  /** The line of a field, from 1, or of the innermost existing node around it. */
  lineOf(path: FieldPath): number | undefined
}

/** The contents of a file. */
export interface ManifestFile<O, E> {
  readonly entries: readonly Entry<O>[]
  readonly extras: readonly E[]
  readonly rejections: readonly Rejection[]
  /** Some part could not be identified. It may be an object that the file contained before. */
  readonly incomplete: boolean
  /** Results by the hash of a part's text, so that only changed parts are parsed again. */
  readonly parts: ReadonlyMap<string, readonly Outcome<O, E>[]>
}

/** The result for one object. Lines are counted from 0 at the beginning of its part. */
interface Outcome<O, E> extends Partial<Omit<Entry<O>, 'key'>> {
  readonly line: number | undefined
  readonly key?: ObjectKey | undefined
  readonly extra?: E
  readonly rejection?: Omit<Rejection, 'file' | 'line'>
}

export interface ParseOptions<O, E> {
  readonly apiGroup: string
  readonly keeper: Keeper<O, E>
  /** Whether to keep objects as in the file, for messages about their fields. Default: false. */
  readonly keepWritten?: boolean
  /** Finds a mistake in a valid object. */
  readonly mistakeIn?: (reading: Extract<Reading, { type: 'accepted' }>) => FieldIssue | undefined
  /** The previous contents of the file. */
  readonly previous?: ManifestFile<O, E> | undefined
  /** Other work gets a turn between two objects. */
  readonly turns: Turns
}

/** Only files with this name may have a status without its object. */
const statusFile = /\.status\.(?:ya?ml|json)$/i

/** Full disks and interrupted writes leave such files. They must not look as if a person had removed the objects. */
const empty = {
  problem: 'is empty: write it again, or remove the file if its objects are to go',
  reason: 'InvalidSyntax',
  line: undefined,
} as const

function isEmpty(text: string): boolean {
  return /^[\s\0]*$/.test(text)
}

/** Parses a file. */
export async function parseManifest<O, E>(
  path: string,
  file: FileText,
  options: ParseOptions<O, E>,
): Promise<ManifestFile<O, E>> {
  const { previous, turns } = options
  const entries: Entry<O>[] = []
  const extras: E[] = []
  const rejections: Rejection[] = []
  const parts = new Map<string, readonly Outcome<O, E>[]>()
  const mayBeStatus = statusFile.test(path)
  let incomplete = false

  const take = (outcomes: readonly Outcome<O, E>[], firstLine: number) => {
    for (const outcome of outcomes) {
      const { line: offset, key, object, extra, rejection, written, ...rest } = outcome
      if (extra !== undefined) extras.push(extra)
      const placed = (at: number | undefined) => (at === undefined ? undefined : firstLine + at)
      const line = placed(offset)
      const lineOf = (field: FieldPath) => placed(written?.lineOf(field))
      const own = written && { written: { ...written, lineOf } }
      if (key !== undefined) entries.push({ ...rest, ...own, key, line, object })
      if (rejection === undefined) continue
      rejections.push({ ...rejection, file: path, line })
      if (key === undefined) incomplete = true
    }
  }
  const part = async (text: string, firstLine: number, list?: ListHeader) => {
    const id = hash('sha256', `${mayBeStatus} ${JSON.stringify(list)}${text}`, 'base64')
    const outcomes = parts.get(id) ?? previous?.parts.get(id)
    const fresh = outcomes ?? (await outcomesOf(parseYaml(text), options, mayBeStatus, list))
    parts.set(id, fresh)
    take(fresh, firstLine)
    await turns.yieldIfDue()
  }

  if ('problem' in file || isEmpty(file.text)) {
    const { problem: message, reason, line } = 'problem' in file ? file : empty
    const rejection = { file: path, line, reason, kind: 'unknown', message } as const
    return { entries, extras, rejections: [rejection], incomplete: true, parts }
  }
  const whole = /\.json$/i.test(path) ? parseJson(file.text) : undefined
  if (whole !== undefined) {
    take(await outcomesOf(whole, options, mayBeStatus), 1)
    return { entries, extras, rejections, incomplete, parts }
  }
  for (const document of documentsOf(file.text)) {
    const list = listItemsOf(document)
    const header = list && parseYaml(list.envelope)
    if (header?.ok === true && isList(header.value)) {
      const { apiVersion, kind } = header.value
      for (const { text, line } of list?.items ?? []) await part(text, line, { apiVersion, kind })
    } else await part(document.text, document.line)
  }
  return { entries, extras, rejections, incomplete, parts }
}

/** @param list set if the document is a sequence of one item of this list */
async function outcomesOf<O, E>(
  document: Document,
  options: ParseOptions<O, E>,
  mayBeStatus: boolean,
  list?: ListHeader,
): Promise<Outcome<O, E>[]> {
  if (!document.ok) {
    const { kind, key } = guessOf(list ? itemOf(document.value, list) : document.value)
    const { message, line } = document
    return [{ line, rejection: { reason: 'InvalidSyntax', kind, object: key, message } }]
  }
  const { apiGroup, keeper, turns } = options
  const outcomes: Outcome<O, E>[] = []
  const whole = list ? itemOf(document.value, list) : document.value
  for (const { value, path } of objectsIn(whole, list ? [0] : [])) {
    const extra = keeper.extra(value, apiGroup)
    if (extra !== undefined) outcomes.push({ line: undefined, extra })
    const reading = readObject(value, apiGroup, mayBeStatus)
    const line = document.linesAreCheap ? document.lineOf(path) : undefined
    if (reading.type === 'accepted') {
      outcomes.push({
        line,
        key: reading.key,
        object: keeper.object(reading.resource, reading.value),
        unknown: reading.unknown,
        mistake: options.mistakeIn?.(reading),
        ...(options.keepWritten && {
          written: {
            value: reading.value,
            lineOf: (field: FieldPath) => document.lineOf([...path, ...field]),
          },
        }),
      })
    } else if (reading.type === 'status') {
      outcomes.push({ line, key: reading.key, status: reading.status })
    } else if (reading.type === 'rejected') {
      const at = document.lineOf([...path, ...(reading.issues[0]?.path ?? [])])
      outcomes.push({ key: reading.key, line: at, rejection: rejectionOf(reading) })
    }
    await turns.yieldIfDue()
  }
  return outcomes
}

function rejectionOf({ kind, key, issues }: Extract<Reading, { type: 'rejected' }>) {
  const [first, ...rest] = issues.map(({ path, message }) => ({ field: formatPath(path), message }))
  const others = rest.slice(0, 9).map(({ field, message }) => `${field}: ${message}`)
  return {
    reason: 'Invalid' as const,
    kind,
    object: key,
    field: first?.field,
    message: first?.message ?? 'is not valid',
    ...(others.length > 0 && { others }),
  }
}

function itemOf(sequence: unknown, list: ListHeader): unknown {
  return inherit(Array.isArray(sequence) && sequence.length === 1 ? sequence[0] : sequence, list)
}

/** A list that was split into its items, without being parsed. */
interface ListParts {
  /** The fields around the items: apiVersion, kind and so on. */
  readonly envelope: string
  /** Each text is a YAML sequence of one item. */
  readonly items: readonly DocumentPart[]
}

/**
 * Splits the output of `kubectl get -o yaml`, a single document with many objects, so that each can be parsed alone. A line
 * that is indented at most as deep as the dash of an item cannot belong to that item.
 *
 * @returns undefined if the document is not such a list, or is written differently
 */
export function listItemsOf({ text, line }: DocumentPart): ListParts | undefined {
  if (!/^kind:[ \t]*["']?\w*List\b/m.test(text) || usesAliases(text)) return undefined
  const heading = /^items:[ \t]*\r?\n/m.exec(text)
  if (heading === null) return undefined
  const start = heading.index + heading[0].length
  const dash = /(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*( *)-(?=\s)/y
  dash.lastIndex = start
  const indent = dash.exec(text)?.[1]?.length
  if (indent === undefined) return undefined

  const items: DocumentPart[] = []
  let itemStart = start
  let itemLine = line + newlinesIn(text.slice(0, start))
  const close = (end: number) => {
    const item = text.slice(itemStart, end)
    items.push({ text: item, line: itemLine })
    itemLine += newlinesIn(item)
    itemStart = end
  }
  let at = nextLine(text, dash.lastIndex)
  for (; at < text.length; at = nextLine(text, at)) {
    const depth = indentAt(text, at)
    if (depth > indent || isBlankOrComment(text, at + depth)) continue
    if (depth < indent || !/^-\s/.test(text.slice(at + depth, at + depth + 2))) break
    close(at)
  }
  close(at)
  return { envelope: text.slice(0, heading.index) + text.slice(at), items }
}

/** An alias may point to an anchor in another item, so such a list is parsed as a whole. */
function usesAliases(text: string): boolean {
  return /[:\-,[][ \t]+\*[\w-]+[ \t]*[\r\n,\]}]/.test(text)
}

function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end + 1
}

function indentAt(text: string, at: number): number {
  let depth = 0
  while (text[at + depth] === ' ') depth++
  return depth
}

function isBlankOrComment(text: string, at: number): boolean {
  const first = text[at]
  return first === undefined || first === '\n' || first === '\r' || first === '#'
}

/** Maximum number of lines about a start or a change. The rest is logged at debug. */
const maxLines = 100

/**
 * Finds a value that an API server would have refused, or that is valid but has no effect.
 *
 * @param namespace the only namespace whose GroupBindings count
 */
export function mistakeFinder(
  apiGroup: string,
  namespace: string | undefined,
): NonNullable<ParseOptions<unknown, unknown>['mistakeIn']> {
  return ({ resource, unknown }): FieldIssue | undefined =>
    mistakesIn(resource)[0] ??
    nameIssue(resource) ??
    unknown?.[0] ??
    publicLabelIssue(resource, apiGroup) ??
    (namespace === undefined ? undefined : ignoredBindingIssue(resource, namespace))
}

/** Logs each mistake of an object once. */
export class Mistakes {
  readonly #log: Logger
  readonly #known = new Map<string, string>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Checks the current content of a file. */
  look(file: string, entries: readonly Entry<unknown>[]): void {
    for (const { key, line, object, mistake } of entries) {
      const id = `${key.kind} ${key.namespace}/${key.name}`
      if (mistake === undefined) {
        if (object !== undefined) this.#known.delete(id)
        continue
      }
      const { message } = mistake
      const field = formatPath(mistake.path)
      if (this.#known.get(id) === `${field} ${message}`) continue
      this.#known.set(id, `${field} ${message}`)
      const level = this.#known.size > maxLines ? 'debug' : 'warn'
      this.#log[level]({ file, line, ...key, field, message }, 'object cannot work as it is')
    }
  }
}
