import { printable } from '../../base/errors/errors.ts'
import type { PlannedChange } from './changes.ts'

type Action = PlannedChange['action']

const maxNamed = 10
const maxMessageBytes = 1_000

/** How each action is printed: its sign, and its verb before versions. */
const signs: Readonly<Record<Action, readonly [sign: string, verb: string]>> = {
  create: ['+', 'create'],
  change: ['~', 'change'],
  fetch: ['+', 'fetch'],
  return: ['+', 'take back from storage'],
  restore: ['~', 'fetch again, because the archive is missing or altered in storage,'],
  replace: ['~', 'replace, because upstream changed,'],
  move: ['~', 'copy to the new storage'],
  document: ['~', 'make the documentation again of'],
  remove: ['-', 'remove'],
  release: ['-', 'release'],
  hold: ['!', ''],
  except: ['!', 'let in despite the policy'],
  wait: ['?', 'hold back'],
  drift: ['!', 'keep, although upstream changed,'],
  skip: ['?', 'skip'],
  fail: ['x', ''],
}

/** Whether something would be different after a sync. */
export function hasDifferences(changes: readonly PlannedChange[]): boolean {
  return changes.some(({ action }) => !['except', 'wait', 'skip', 'fail'].includes(action))
}

export function hasFailures(changes: readonly PlannedChange[]): boolean {
  return changes.some(({ action }) => action === 'fail')
}

/** A line for each change, and a summary. */
export function asText(changes: readonly PlannedChange[]): string {
  const lines = changes.map(
    (change) => `${signs[change.action][0]} ${subjectOf(change)}: ${textOf(change)}`,
  )
  return `${[...lines, summaryOf(changes)].join('\n')}\n`
}

/** A comment for a pull request. */
export function asMarkdown(changes: readonly PlannedChange[]): string {
  const rows = changes.map(
    (change) =>
      `| \`${signs[change.action][0]}\` | ${escaped(subjectOf(change))} | ${escaped(textOf(change))} |`,
  )
  const table =
    rows.length === 0 ? [] : ['', '| | object | change |', '| --- | --- | --- |', ...rows]
  return `${[`**${summaryOf(changes)}**`, ...table].join('\n')}\n`
}

/** The changes, for programs. */
export function asJson(changes: readonly PlannedChange[]): string {
  return `${JSON.stringify({ schema: 1, summary: countsOf(changes), changes }, null, 2)}\n`
}

function subjectOf({ kind, namespace, name }: PlannedChange): string {
  return `${kind} ${namespace}/${name}`
}

function textOf({ action, versions = [], message }: PlannedChange): string {
  const named = versions.slice(0, maxNamed).join(', ')
  const more = versions.length > maxNamed ? ` and ${versions.length - maxNamed} more` : ''
  const what = [signs[action][1], `${named}${more}`].filter((text) => text !== '').join(' ')
  const why = message === undefined ? '' : printable(message, maxMessageBytes)
  return [what, why].filter((text) => text !== '').join(': ')
}

/** How much each action does: the number of versions, otherwise of objects. */
function countsOf(changes: readonly PlannedChange[]): Partial<Record<Action, number>> {
  const counts: Partial<Record<Action, number>> = {}
  for (const { action, versions } of changes) {
    counts[action] = (counts[action] ?? 0) + (versions?.length ?? 1)
  }
  return counts
}

const summaries: readonly (readonly [Action, string])[] = [
  ['create', 'to create'],
  ['change', 'to change'],
  ['fetch', 'to fetch'],
  ['return', 'to take back'],
  ['restore', 'to fetch again'],
  ['replace', 'to replace'],
  ['move', 'to copy'],
  ['document', 'to document'],
  ['remove', 'to remove'],
  ['release', 'to release'],
  ['hold', 'held'],
  ['except', 'excepted'],
  ['wait', 'held back'],
  ['drift', 'changed upstream'],
  ['skip', 'skipped'],
  ['fail', 'failed'],
]

function summaryOf(changes: readonly PlannedChange[]): string {
  const counts = countsOf(changes)
  const parts = summaries.flatMap(([action, text]) =>
    counts[action] === undefined ? [] : [`${counts[action]} ${text}`],
  )
  return parts.length === 0
    ? 'No changes: everything matches the manifests.'
    : `Plan: ${parts.join(', ')}.`
}

/** Text in a cell of a table. */
function escaped(text: string): string {
  return text.replaceAll(/[\\|`*_<>[\]]/g, '\\$&')
}
