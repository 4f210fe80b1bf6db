import { printable } from '../../base/errors/errors.ts'
import { type Action, actions } from './actions.ts'
import type { PlannedChange } from './changes.ts'

const maxNamed = 10
const maxMessageBytes = 1_000

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
    (change) => `${actions[change.action].sign} ${subjectOf(change)}: ${textOf(change)}`,
  )
  return `${[...lines, summaryOf(changes)].join('\n')}\n`
}

/** A comment for a pull request. */
export function asMarkdown(changes: readonly PlannedChange[]): string {
  const rows = changes.map(
    (change) =>
      `| \`${actions[change.action].sign}\` | ${escaped(subjectOf(change))} | ${escaped(textOf(change))} |`,
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
  const what = [actions[action].verb, `${named}${more}`].filter((text) => text !== '').join(' ')
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

function summaryOf(changes: readonly PlannedChange[]): string {
  const counts = countsOf(changes)
  const parts = Object.entries(actions).flatMap(([action, { sum }]) => {
    const count = counts[action as Action]
    return count === undefined ? [] : [`${count} ${sum}`]
  })
  return parts.length === 0
    ? 'No changes: everything matches the manifests.'
    : `Plan: ${parts.join(', ')}.`
}

/** Text in a cell of a table. */
function escaped(text: string): string {
  return text.replaceAll(/[\\|`*_<>[\]]/g, '\\$&')
}
