import type { InterfaceChange, ModuleComparison } from '../api/records.ts'

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
