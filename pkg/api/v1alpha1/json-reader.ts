import { type CheckedFinding, checkFinding, scanFields } from './scan.ts'
import { TextTable } from './text-table.ts'

/** Brackets are rare and quotes are not, so the place is found by the bracket. */
const [name, opening] = ['"findings":', '[{']
const [comma, closingBracket] = [44, 93]
/** Tricks are off in this process; see docs/performance.md. */
const isPlain = process.env['DEPOT_PLAIN'] === '1'
/** Reading new findings one by one takes twice as long as parsing the whole text again. */
const defaultMaxNewFindings = 500

/**
 * Reads JSON like `JSON.parse`, but parses no finding twice: lists of findings are cut out by position, and each finding is
 * looked up by its text. Nine tenths of the data that a cluster sends for Versions is findings, and most of them repeat.
 * Findings are returned as parsed by their schema. Unexpected text is left to `JSON.parse`.
 */
export class JsonReader {
  readonly #known = new TextTable<CheckedFinding>()
  /** Replaces a list in the text. Random, so that no object can contain it. */
  readonly #mark = `${crypto.randomUUID().slice(0, 18)}:`
  readonly #maxNewFindings: number
  #newFindings = 0

  /** @param maxNewFindings limit for one text; beyond it, `JSON.parse` reads the whole text */
  constructor(maxNewFindings = defaultMaxNewFindings) {
    this.#maxNewFindings = maxNewFindings
  }

  /**
   * @param text of an object, of an event of a watch, or of a list
   * @throws SyntaxError where the text is not JSON
   */
  parse(text: string): unknown {
    if (isPlain) return JSON.parse(text)
    const lists: CheckedFinding[][] = []
    this.#newFindings = 0
    const rest = this.#cut(text, lists)
    if (lists.length === 0 || rest === undefined) return JSON.parse(text)
    const raw: unknown = JSON.parse(rest)
    return this.#putBack(raw, lists) ? raw : JSON.parse(text)
  }

  /** @returns the text with a mark in place of each list; undefined if that is impossible */
  #cut(text: string, lists: CheckedFinding[][]): string | undefined {
    let rest = ''
    let end = 0
    for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at)) {
      if (text.startsWith(name, at - name.length)) {
        rest += `${text.slice(end, at)}"${this.#mark}${lists.length}"`
        const ends = endsFrom(text, at + 1)
        const list = this.#readList(text, at + 1, ends)
        if (list === undefined) return undefined
        lists.push(list)
        end = (ends.at(-1) as number) + 1
        at = end
      } else at += 1
    }
    return rest + text.slice(end)
  }

  /** @returns undefined if the text is unexpected */
  #readList(text: string, start: number, ends: readonly number[]): CheckedFinding[] | undefined {
    const list: CheckedFinding[] = []
    let from = start
    for (const end of ends) {
      const finding = this.#known.find(text, from, end) ?? this.#read(text.slice(from, end))
      if (finding === undefined) return undefined
      list.push(finding)
      from = end + 1
    }
    return list.length === 0 ? undefined : list
  }

  #read(text: string): CheckedFinding | undefined {
    this.#newFindings += 1
    const raw = this.#newFindings > this.#maxNewFindings ? undefined : parsed(text)
    const checked = raw && checkFinding(raw)
    if (checked !== undefined) this.#known.set(copyOf(text), checked)
    return checked
  }

  /** @returns whether every list was put in its place */
  #putBack(raw: unknown, lists: readonly CheckedFinding[][]): boolean {
    let put = 0
    for (const object of objectsIn(raw)) {
      const status = member(object, 'status')
      for (const field of scanFields) {
        const scan = member(status, field) as { findings?: unknown } | undefined
        const mark = member(scan, 'findings')
        if (scan === undefined || typeof mark !== 'string' || !mark.startsWith(this.#mark)) continue
        const list = lists[Number(mark.slice(this.#mark.length))]
        if (list === undefined) return false
        scan.findings = list
        put += 1
      }
    }
    return put === lists.length
  }
}

/**
 * The ends of the findings of a list. A brace may be part of a string: then the cut text is not JSON, because an object
 * ends where it is complete.
 *
 * @param start offset of the first finding
 * @returns an empty list where the text is unexpected
 */
function endsFrom(text: string, start: number): readonly number[] {
  const ends: number[] = []
  for (let from = start; ; ) {
    const end = text.indexOf('}', from) + 1
    if (end === 0) return []
    ends.push(end)
    const next = text.charCodeAt(end)
    if (next === closingBracket) return ends
    if (next !== comma) return []
    from = end + 1
  }
}

/**
 * Copies the text, because a slice keeps the whole text alive. Half of a surrogate pair does not survive the copy: then
 * nothing is found under it, and the finding is parsed again.
 */
function copyOf(text: string): string {
  return Buffer.from(text).toString()
}

function parsed(text: string): object | undefined {
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}

/** The objects of an answer: a single one, that of an event, or those of a list. */
function objectsIn(raw: unknown): readonly unknown[] {
  const items = member(raw, 'items')
  return Array.isArray(items) ? items : [raw, member(raw, 'object')]
}

const member = (value: unknown, key: string): unknown => (isRecord(value) ? value[key] : undefined)

/** Whether a value is an object of JSON or YAML, and not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
