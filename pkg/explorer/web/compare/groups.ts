import type { InterfaceChange, ModuleComparison } from '../api/records.ts'
import { plural } from '../parts/format.ts'

type GroupId = 'breaking' | 'undecided' | 'new' | 'changed' | 'internal'

/** Changes that concern callers in the same way. */
export interface ChangeGroup {
  readonly id: GroupId
  readonly words: string
  readonly about?: string
  readonly changes: readonly InterfaceChange[]
}

const groups: readonly Omit<ChangeGroup, 'changes'>[] = [
  { id: 'breaking', words: 'Breaking' },
  { id: 'undecided', words: 'Not decided', about: 'Look at these yourself' },
  { id: 'new', words: 'New' },
  { id: 'changed', words: 'Changed' },
  { id: 'internal', words: 'Internal', about: 'Nothing that a caller sees' },
]

/** The groups that have changes, the worst first. */
export function groupsOf({ changes }: Pick<ModuleComparison, 'changes'>): ChangeGroup[] {
  const byId = Map.groupBy(changes, groupOf)
  return groups.flatMap((group) => {
    const own = byId.get(group.id)
    return own === undefined ? [] : [{ ...group, changes: own }]
  })
}

function groupOf({ kind, verdict, before }: InterfaceChange): GroupId {
  if (verdict === 'breaking') return 'breaking'
  if (verdict === 'unknown') return 'undecided'
  if (kind === 'state' || kind === 'resource' || kind === 'module') return 'internal'
  return before === undefined ? 'new' : 'changed'
}

export const kindWords: Readonly<Record<InterfaceChange['kind'], string>> = {
  input: 'Input',
  output: 'Output',
  provider: 'Provider',
  requiredVersion: 'Terraform or OpenTofu',
  state: 'Resource',
  module: 'Module call',
  resource: 'Resource',
  submodule: 'Submodule',
  parser: 'File',
}

interface Verdict {
  readonly tone: 'fail' | 'warn' | 'quiet'
  readonly title: string
  /** Judges the number of the later version; empty if the number says nothing. */
  readonly promise: string
}

/** Says in a sentence or two whether callers can take the later version. */
export function verdictOf({ from, to, changes, verdict }: ModuleComparison): Verdict {
  if (verdict === 'breaking') {
    const count = changes.filter((change) => change.verdict === 'breaking').length
    const title = `${plural(count, 'change breaks', 'changes break')} callers of ${from}`
    return { tone: 'fail', title, promise: promiseOf(from, to) }
  }
  if (changes.some(({ kind }) => kind === 'parser')) {
    const title = 'A file cannot be parsed, so not everything could be compared'
    return { tone: 'warn', title, promise: '' }
  }
  if (verdict === 'unknown') {
    const count = changes.filter((change) => change.verdict === 'unknown').length
    const title = `${plural(count, 'change')} could not be decided`
    return { tone: 'warn', title, promise: 'Nothing else breaks callers.' }
  }
  const what = changes.length === 0 ? 'Nothing changed for' : 'Nothing breaks'
  return { tone: 'quiet', title: `${what} callers of ${from}`, promise: '' }
}

/** Judges the number of a version that breaks callers. */
function promiseOf(from: string, to: string): string {
  const [before, after] = [numbersOf(from), numbersOf(to)]
  if (before === undefined || after === undefined) return ''
  const at = after.findIndex((number, place) => number !== before[place])
  if (at < 0 || (after[at] ?? 0) < (before[at] ?? 0)) return ''
  if (at === 0) return `${to} is a new major version, so callers expect breaking changes.`
  if (after[0] === 0) return 'Before 1.0.0, every version may break callers.'
  const which = at === 1 ? 'minor' : 'patch'
  return `${to} is only a new ${which} version, so its number promises not to break callers.`
}

/** Major, minor and patch; undefined if it is not a semantic version. */
const numbersOf = (version: string): number[] | undefined =>
  /^(\d+)\.(\d+)\.(\d+)(?=[-+]|$)/.exec(version)?.slice(1).map(Number)
