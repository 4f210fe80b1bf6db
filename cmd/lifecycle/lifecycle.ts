import {
  effectiveLifecycle,
  type LifecycleFacts,
  type LifecycleRule,
  LifecycleRules,
  lifecycleWords,
} from '../../pkg/api/lifecycle/lifecycle.ts'
import { normalizeVersion, problemsIn } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { messageOf, ReasonError } from '../../pkg/base/errors/errors.ts'
import {
  type ActivateCommandOptions,
  activateCommand,
  type LifecycleCommandOptions,
  OptionsError,
} from '../../pkg/base/options/options.ts'
import { claimsOf, type PublishAddress } from '../../pkg/fill/publishing/publishing.ts'
import type { Objects, StoredObject } from '../../pkg/records/store/store.ts'
import { openRecords } from '../records/records.ts'

interface Spec {
  readonly lifecycle?: readonly LifecycleRule[]
}

/** Computes the new rules of a parent from its current ones. */
type Edit = (
  rules: readonly LifecycleRule[],
  versions: string,
  address: string,
) => readonly LifecycleRule[]

/** Writes a rule with a state into a Module or Provider. */
const withdraw =
  (state: LifecycleRule['state']) =>
  (options: LifecycleCommandOptions, operands: readonly string[]): Promise<string | number> =>
    edit(options, operands, (rules, versions, address) => {
      const isReleased = state !== 'Quarantined' && rules.some(isQuarantineOf(versions))
      if (isReleased) {
        throw new OptionsError([
          `${versions} is quarantined: run depot activate ${address} ${quoted(versions)} first, if it may be served again`,
        ])
      }
      const { message, replacedBy, link } = options
      const rule = {
        versions,
        state,
        ...(message !== undefined && { message }),
        ...(replacedBy !== undefined && { replacedBy }),
        ...(link !== undefined && { link }),
      }
      return [rule, ...without(rules, versions)]
    })

export const deprecate = withdraw('Deprecated')
export const yank = withdraw('Yanked')
export const quarantine = withdraw('Quarantined')

/** Removes the rules for versions. */
export const activate = (
  options: ActivateCommandOptions,
  operands: readonly string[],
): Promise<string | number> =>
  edit(options, operands, (rules, versions, address) => {
    const left = without(rules, versions)
    if (left.length < rules.length) return left
    const own = rules.map((rule) => commandOf(undefined, address, rule.versions, options))
    throw new OptionsError([
      `no rule has the versions ${JSON.stringify(versions)}: ${own.length === 0 ? 'there are no rules' : `remove a rule with ${own.join(', or ')}`}`,
    ])
  })

/** Sorts and normalises the clauses of a constraint: `= v1.0.0` becomes `1.0.0`. */
const spelled = (versions: string): string =>
  versions
    .split(',')
    .map((clause) =>
      clause
        .replaceAll(/\s/g, '')
        .replace(/^(=|!=|>=|<=|>|<|~>)?v?/, (_, operator = '') =>
          operator === '=' ? '' : operator,
        ),
    )
    .toSorted()
    .join()
const isQuarantineOf = (versions: string) => (rule: LifecycleRule) =>
  rule.state === 'Quarantined' && spelled(rule.versions) === spelled(versions)
const without = (rules: readonly LifecycleRule[], versions: string): readonly LifecycleRule[] =>
  rules.filter((rule) => spelled(rule.versions) !== spelled(versions))

/** @throws OptionsError for mistakes of the command line */
async function edit(
  options: ActivateCommandOptions,
  [address = '', versions = '', ...others]: readonly string[],
  change: Edit,
): Promise<string | number> {
  if (versions === '' || others.length > 0) {
    throw new OptionsError(['write an address and one constraint in quotes, such as "< 1.0.0"'])
  }
  const [namespace = '', name = '', system, ...more] = address.split('/')
  await using records = await openRecords(options, [namespace])
  const { objects } = records
  const parent =
    more.length === 0 ? find(objects, { namespace, name, ...(system && { system }) }) : undefined
  if (parent === undefined) {
    throw new OptionsError([
      `there is no ${address}: write NAMESPACE/NAME/SYSTEM of a module, or NAMESPACE/TYPE of a provider`,
    ])
  }
  const { lifecycle: before = [] } = parent.spec as Spec
  const after = change(before, versions, address)
  requireValid(parent, after)
  requireOther(before, after)
  const removal = (rule: LifecycleRule) => commandOf(undefined, address, rule.versions, options)
  const text = textOf(objects, parent, { before, after, removal })
  const { kind, metadata } = parent
  if (options.dryRun) return `${text}Nothing was written.\n`
  try {
    await objects.patch(
      { kind, namespace, name: metadata.name },
      { spec: { lifecycle: after.length === 0 ? null : after } },
      { resourceVersion: metadata.resourceVersion },
    )
  } catch (error) {
    if (!(error instanceof ReasonError)) throw error
    process.stderr.write(`depot: ${kind} ${namespace}/${metadata.name}: ${messageOf(error)}\n`)
    return 1
  }
  const fresh = after.filter((rule) => !before.includes(rule))
  if (fresh.length === 0) return text
  const undo = [undefined, ...before.filter((rule) => !after.includes(rule))].map((rule) =>
    commandOf(rule, address, versions, options),
  )
  return `${text}To undo it: ${undo.join(' && ')}\n`
}

const verbs = { Deprecated: 'deprecate', Yanked: 'yank', Quarantined: 'quarantine' } as const

/** Formats a command with the same place. @param rule that the command writes; undefined if it removes one */
function commandOf(
  rule: LifecycleRule | undefined,
  address: string,
  versions: string,
  { manifests, kubeconfig, apiGroup }: ActivateCommandOptions,
): string {
  const place = [
    ['--manifests', manifests],
    ['--kubeconfig', kubeconfig],
    ['--api-group', apiGroup === activateCommand.options.apiGroup.default ? undefined : apiGroup],
  ] as const
  const [verb, of, note] =
    rule === undefined
      ? ['activate', versions, []]
      : [
          verbs[rule.state],
          rule.versions,
          [
            ['--message', rule.message],
            ['--replaced-by', rule.replacedBy],
            ['--link', rule.link],
          ] as const,
        ]
  const flags = [...note, ...place].flatMap(([flag, value]) =>
    value === undefined ? [] : [flag, quoted(value)],
  )
  return ['depot', verb, quoted(address), quoted(of), ...flags].join(' ')
}

/** Quotes a word for a shell. */
function quoted(text: string): string {
  if (/^[\w./:@%+=,-]+$/.test(text)) return text
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`
}

function find(objects: Objects, address: PublishAddress): StoredObject | undefined {
  const claims = claimsOf(objects, address)
  const [first, other] = claims
  if (other === undefined || first?.metadata.name === address.name) return first
  const names = claims.map(({ metadata }) => metadata.name).join(', ')
  throw new OptionsError([
    `several objects have this address: ${names}. Servers serve the oldest. Give the others another name in their config`,
  ])
}

/** @throws OptionsError if the API server or a folder would refuse the rules */
function requireValid(parent: StoredObject, lifecycle: readonly LifecycleRule[]): void {
  const spec = { ...(parent.spec as object), lifecycle }
  const issues = problemsIn(parent.kind, { ...parent, spec })
  const [issue] = issues.filter(({ path }) => path[1] === 'lifecycle')
  if (issue !== undefined) throw new OptionsError([`${issue.path.at(-1)} ${issue.message}`])
}

/** @throws OptionsError if a new rule suggests a version that the rule itself withdraws */
function requireOther(before: readonly LifecycleRule[], after: readonly LifecycleRule[]): void {
  for (const { versions, replacedBy = '', state } of after.filter((it) => !before.includes(it))) {
    const rule = new LifecycleRules([{ versions, state }])
    if (rule.matching(normalizeVersion(replacedBy)).length > 0) {
      throw new OptionsError([
        `--replaced-by: ${replacedBy} is one of the versions ${versions}: name another version`,
      ])
    }
  }
}

interface Change {
  readonly before: readonly LifecycleRule[]
  readonly after: readonly LifecycleRule[]
  /** The command that removes a rule. */
  readonly removal: (rule: LifecycleRule) => string
}

/** Lists the rules that are added and removed, and the Versions whose state changes. */
function textOf(
  objects: Objects,
  parent: StoredObject,
  { before, after, removal }: Change,
): string {
  const { kind, metadata } = parent
  const { namespace, uid: ownerUid } = metadata
  const lines = [
    ...before.filter((rule) => !after.includes(rule)).map((rule) => `- ${ruleText(rule)}`),
    ...after.filter((rule) => !before.includes(rule)).map((rule) => `+ ${ruleText(rule)}`),
  ]
  const [old, now] = [new LifecycleRules(before), new LifecycleRules(after)]
  const { moduleConfig, providerConfig } = parent.spec as Record<string, Named | undefined>
  const names = [metadata.name, (moduleConfig ?? providerConfig)?.name]
  const others = new Set<LifecycleRule>()
  const stored = objects
    .list('Version', { namespace })
    .filter(({ metadata: own, spec }) => {
      const { moduleConfigRef: a, providerConfigRef: b } = spec as Record<string, Named | undefined>
      const isOwned = own.ownerReferences.some(({ uid }) => uid === ownerUid)
      return isOwned || names.includes((a ?? b)?.name)
    })
    .flatMap(({ spec, status }) => {
      const { version, lifecycle: own } = spec as {
        readonly version: string
        readonly lifecycle?: LifecycleFacts['own']
      }
      const { quarantinedBy } = (status ?? {}) as Pick<LifecycleFacts, 'quarantinedBy'>
      const number = normalizeVersion(version)
      const [was, is] = [old.matching(number), now.matching(number)]
      if (JSON.stringify(was) === JSON.stringify(is)) return []
      for (const rule of is) if (before.length > after.length) others.add(rule)
      const [from, to] = [was, is].map((rules) => effectiveLifecycle({ own, rules, quarantinedBy }))
      if (from?.state !== to?.state) {
        return `${number}: ${from?.state ?? 'Active'} -> ${to?.state ?? 'Active'}`
      }
      const words = to === undefined ? '' : lifecycleWords(to)
      return `${number} stays ${to?.state ?? 'Active'}${words && `: ${words}`}`
    })
  const all = [...new Set(stored)]
  const affected = all.slice(0, 10).map((line) => `  ${line}`)
  if (all.length > 10) affected.push(`  and ${all.length - 10} more`)
  const title = all.length === 0 ? 'No existing version matches.' : 'Affected versions:'
  const left = [...others].map((rule) => `Another rule stays; to remove it, too: ${removal(rule)}`)
  return [`${kind} ${namespace}/${metadata.name}`, ...lines, title, ...affected, ...left, ''].join(
    '\n',
  )
}

interface Named {
  readonly name?: string
}

const ruleText = (rule: LifecycleRule): string => {
  const words = lifecycleWords(rule)
  return `${rule.versions} is ${rule.state}${words && `: ${words}`}`
}
