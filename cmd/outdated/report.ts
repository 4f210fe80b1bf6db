import { markdownText, oneLine } from '../../pkg/api/changes/changes.ts'
import type { DocsProblem } from '../../pkg/api/docs/docs.ts'
import { sarifLog, sarifPlace } from '../../pkg/api/sarif/sarif.ts'
import { problemText } from '../../pkg/archives/docs/docs.ts'
import { checks, type Item } from './items.ts'

interface Report {
  readonly items: readonly Item[]
  readonly problems: readonly DocsProblem[]
  /** Version of this program. */
  readonly version: string
}

const placeOf = ({ file, line }: Item): string => (line === undefined ? file : `${file}:${line}`)

const linesOf = ({ findings, undecided, unscanned }: Item): string[] => [
  ...findings.map(({ check, message }) => `${check}: ${message}`),
  ...(undecided === undefined ? [] : [`undecided: ${undecided}`]),
  ...(unscanned === undefined ? [] : [`unscanned: ${unscanned}`]),
]

/** Formats a block for each use that needs attention, what was not checked, and a summary. */
export function asText({ items }: Report): string {
  const blocks = items.flatMap((item) => {
    const lines = linesOf(item)
    if (lines.length === 0) return []
    const head = [`${placeOf(item)}:`, item.name, item.source, item.version].filter(Boolean)
    return [oneLine(head.join(' ')), ...lines.map((line) => `  ${oneLine(line)}`)]
  })
  const others = items.flatMap((item) =>
    item.notJudged === undefined
      ? []
      : [
          oneLine(
            `${placeOf(item)}: ${item.name} ${item.source} was not checked: ${item.notJudged}`,
          ),
        ],
  )
  return `${[...blocks, ...others, `${summaryOf(items)}.`].join('\n')}\n`
}

function summaryOf(items: readonly Item[]): string {
  const count = (is: (item: Item) => boolean) => items.filter(is).length
  const judged = count(
    ({ undecided, notJudged }) => undecided === undefined && notJudged === undefined,
  )
  const parts = [
    `${judged} checked`,
    `${count(({ findings }) => findings.length > 0)} with findings`,
    `${count(({ undecided }) => undecided !== undefined)} undecided`,
    `${count(({ notJudged }) => notJudged !== undefined)} not checked`,
  ]
  const unscanned = count((item) => item.unscanned !== undefined)
  if (unscanned > 0) parts.push(`${unscanned} unscanned`)
  const unknown = count(({ note }) => note !== undefined)
  if (unknown > 0) parts.push(`${unknown} without states and findings of their registry`)
  return parts.join(', ')
}

/** Formats all items as JSON, for programs. */
export const asJson = ({ items, problems }: Report): string =>
  `${JSON.stringify({ schema: 1, items, problems }, null, 2)}\n`

/** Formats a Markdown table, for a comment on a pull request. */
export function asMarkdown({ items, problems }: Report): string {
  const rows = items.flatMap((item) =>
    linesOf(item).map((line) =>
      [
        code(placeOf(item)),
        code(item.source),
        markdownText(item.version ?? ''),
        markdownText(line),
      ].join(' | '),
    ),
  )
  const table = ['| place | source | version | finding |', '| --- | --- | --- | --- |']
  const lines = rows.length === 0 ? [] : [...table, ...rows.map((row) => `| ${row} |`), '']
  lines.push(
    ...problems.flatMap((problem) => [`Not read: ${markdownText(problemText(problem))}`, '']),
  )
  return `${[...lines, `${summaryOf(items)}.`].join('\n')}\n`
}

/** Formats untrusted text as code. The fence is longer than any run of backticks in the text. */
function code(value: string): string {
  const text = oneLine(value)
  const runs = text.match(/`+/g) ?? []
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1)
  const space = runs.length > 0 ? ' ' : ''
  return `${fence}${space}${text.replaceAll('|', '\\|')}${space}${fence}`
}

/** Formats SARIF 2.1.0, which code hosts show next to the lines of a change. */
export function asSarif({ items, problems, version }: Report): string {
  const rules = Object.entries(checks).map(([id, { level, text }]) => ({
    id,
    shortDescription: { text },
    defaultConfiguration: { level },
  }))
  const results = items.flatMap((item) =>
    item.findings.map(({ check, message }) => ({
      ruleId: check,
      level: checks[check].level,
      message: { text: `${item.name} ${item.source}: ${message}` },
      locations: [sarifPlace(item.file, item.line)],
    })),
  )
  // A code host closes earlier findings that a run does not repeat, so the run also lists what could not be checked.
  const notices = [
    ...problems.map(problemText),
    ...items.flatMap((item) =>
      linesOf({ ...item, findings: [] }).map((line) => `${item.name} ${item.source}: ${line}`),
    ),
  ].map((text) => ['error', text] as const)
  const log = sarifLog({ name: 'depot outdated', version, rules }, results, notices)
  return `${JSON.stringify(log, undefined, 2)}\n`
}
