import { hash } from 'node:crypto'
import {
  type FieldIssue,
  formatPath,
  type JsonReader,
  type ObjectKey,
  type Resource,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Turns } from '../../base/pacing/pacing.ts'
import { type Document, documentsOf, parseJson, parseYaml } from './documents.ts'
import { listItemsOf } from './list-items.ts'
import {
  guessOf,
  inherit,
  isList,
  type ListHeader,
  objectsIn,
  type Reading,
  readObject,
} from './objects.ts'
import type { FileText } from './read-text.ts'
import { type Readme, readmeIn } from './readme.ts'
import type { Rejection } from './rejections.ts'

/** An object that a file says something about. */
export interface Entry {
  readonly key: ObjectKey
  readonly line: number | undefined
  /** Undefined where the object was rejected. */
  readonly resource: Resource | undefined
  /** Fields of it that nothing reads. */
  readonly unknown?: readonly FieldIssue[] | undefined
}

/** What a file holds. */
export interface ManifestFile {
  readonly entries: readonly Entry[]
  readonly readmes: readonly Readme[]
  readonly rejections: readonly Rejection[]
  /** Whether some part could not be identified as any object: it may be one that the file held before. */
  readonly incomplete: boolean
  /** What became of each part, by the hash of its text, so that only parts that change are parsed again. */
  readonly parts: ReadonlyMap<string, readonly Outcome[]>
}

/** What became of one object. The line is counted from 0, from the beginning of its part. */
interface Outcome {
  readonly line: number | undefined
  readonly key: ObjectKey | undefined
  readonly resource?: Resource
  readonly unknown?: readonly FieldIssue[] | undefined
  readonly readme?: Readme
  readonly rejection?: Omit<Rejection, 'file' | 'line'>
}

export interface ParseOptions {
  readonly apiGroup: string
  /** What the file held before. */
  readonly previous: ManifestFile | undefined
  /** Of all files, so that equal findings are in memory once. */
  readonly json: JsonReader
  /** Between two objects others get their turn. */
  readonly turns: Turns
}

/** Reads what a file holds. */
export async function parseManifest(
  path: string,
  file: FileText,
  options: ParseOptions,
): Promise<ManifestFile> {
  const { previous, turns } = options
  const entries: Entry[] = []
  const readmes: Readme[] = []
  const rejections: Rejection[] = []
  const parts = new Map<string, readonly Outcome[]>()
  let incomplete = false

  const take = (outcomes: readonly Outcome[], firstLine: number) => {
    for (const { line: offset, key, resource, unknown, readme, rejection } of outcomes) {
      if (readme !== undefined) readmes.push(readme)
      const line = offset === undefined ? undefined : firstLine + offset
      if (key !== undefined) entries.push({ key, line, resource, unknown })
      if (rejection === undefined) continue
      rejections.push({ ...rejection, file: path, line })
      if (key === undefined) incomplete = true
    }
  }
  const part = async (text: string, firstLine: number, list?: ListHeader) => {
    const id = hash('sha256', `${JSON.stringify(list)}${text}`, 'base64')
    const outcomes = parts.get(id) ?? previous?.parts.get(id)
    const fresh = outcomes ?? (await outcomesOf(parseYaml(text), options, list))
    parts.set(id, fresh)
    take(fresh, firstLine)
    await turns.yieldIfDue()
  }

  if ('problem' in file) {
    const { problem: message, reason, line } = file
    const rejection = { file: path, line, reason, kind: 'unknown', message } as const
    return { entries, readmes, rejections: [rejection], incomplete: true, parts }
  }
  const whole = /\.json$/i.test(path) ? parseJson(file.text) : undefined
  if (whole !== undefined) {
    take(await outcomesOf(whole, options), 1)
    return { entries, readmes, rejections, incomplete, parts }
  }
  for (const document of documentsOf(file.text)) {
    const list = listItemsOf(document)
    const header = list && parseYaml(list.envelope)
    if (header?.ok === true && isList(header.value)) {
      const { apiVersion, kind } = header.value
      for (const { text, line } of list?.items ?? []) await part(text, line, { apiVersion, kind })
    } else await part(document.text, document.line)
  }
  return { entries, readmes, rejections, incomplete, parts }
}

/** @param list where the document is the sequence of one item of this list */
async function outcomesOf(
  document: Document,
  { apiGroup, json, turns }: ParseOptions,
  list?: ListHeader,
): Promise<Outcome[]> {
  if (!document.ok) {
    const { kind, key } = guessOf(list ? itemOf(document.value, list) : document.value)
    const { message, line } = document
    return [
      { key: undefined, line, rejection: { reason: 'InvalidSyntax', kind, object: key, message } },
    ]
  }
  const outcomes: Outcome[] = []
  const whole = list ? itemOf(document.value, list) : document.value
  for (const { value, path } of objectsIn(whole, list ? [0] : [])) {
    const readme = readmeIn(value, apiGroup)
    if (readme !== undefined) outcomes.push({ key: undefined, line: undefined, readme })
    const reading = readObject(value, apiGroup, json)
    if (reading.type === 'accepted') {
      const line = document.linesAreCheap ? document.lineOf(path) : undefined
      const { key, resource, unknown } = reading
      outcomes.push({ key, resource, line, ...(unknown && { unknown }) })
    } else if (reading.type === 'rejected') {
      const line = document.lineOf([...path, ...(reading.issues[0]?.path ?? [])])
      outcomes.push({ key: reading.key, line, rejection: rejectionOf(reading) })
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
