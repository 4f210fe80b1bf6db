import packageJson from '../../package.json' with { type: 'json' }
import {
  type LifecycleRule,
  LifecycleRules,
  lifecycleWords,
} from '../../pkg/api/lifecycle/lifecycle.ts'
import { mistakesIn, normalizeVersion, parseResource } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { messageOf, ReasonError } from '../../pkg/base/errors/errors.ts'
import {
  type ActivateCommandOptions,
  type LifecycleCommandOptions,
  OptionsError,
} from '../../pkg/base/options/options.ts'
import { createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import type { Objects, StoredObject } from '../../pkg/records/store/store.ts'
import { openRecords } from '../records/records.ts'

interface Spec {
  readonly moduleConfig?: { readonly name?: string; readonly provider?: string }
  readonly providerConfig?: { readonly name?: string }
  readonly lifecycle?: readonly LifecycleRule[]
}

/** Computes the rules of a parent from those that it has. */
type Edit = (rules: readonly LifecycleRule[], versions: string) => readonly LifecycleRule[]

/** Writes a rule with a state into a Module or Provider. */
export const withdraw =
  (state: LifecycleRule['state']) =>
  (options: LifecycleCommandOptions, operands: readonly string[]): Promise<string | number> =>
    edit(options, operands, (rules, versions) => {
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

/** Removes the rules for versions. */
export const activate = (
  options: ActivateCommandOptions,
  operands: readonly string[],
): Promise<string | number> =>
  edit(options, operands, (rules, versions) => {
    const left = without(rules, versions)
    if (left.length < rules.length) return left
    const own = rules.map((rule) => JSON.stringify(rule.versions)).join(', ')
    throw new OptionsError([
      `no rule has the versions ${JSON.stringify(versions)}: ${own === '' ? 'there are no rules' : `the rules have ${own}`}`,
    ])
  })

const spelled = (versions: string): string => versions.replaceAll(/\s/g, '')
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
  const [namespace = '', name = '', system] = address.split('/')
  const metrics = createMetrics({ version: packageJson.version })
  await using records = await openRecords(options, [namespace], metrics)
  const { objects } = records
  const parent = find(objects, namespace, name, system)
  if (parent === undefined) {
    throw new OptionsError([
      `there is no ${address}: write NAMESPACE/NAME/SYSTEM of a module, or NAMESPACE/TYPE of a provider`,
    ])
  }
  const { lifecycle: before = [] } = parent.spec as Spec
  const after = change(before, versions)
  requireValid(parent, after)
  const text = textOf(objects, parent, before, after)
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
  const isWithdrawn = after.some((rule) => spelled(rule.versions) === spelled(versions))
  const flags = options.manifests === undefined ? '' : ` --manifests ${options.manifests}`
  return isWithdrawn
    ? `${text}To undo it: depot activate ${address} ${JSON.stringify(versions)}${flags}\n`
    : text
}

function find(
  objects: Objects,
  namespace: string,
  name: string,
  system: string | undefined,
): StoredObject | undefined {
  const all = objects.list(system === undefined ? 'Provider' : 'Module', { namespace })
  const fitting = all.filter(({ spec }) => {
    const { provider = system } = (spec as Spec).moduleConfig ?? {}
    return provider === system
  })
  return (
    fitting.find(({ metadata }) => metadata.name === name) ??
    fitting.find(({ spec }) => {
      const { moduleConfig, providerConfig } = spec as Spec
      return (moduleConfig ?? providerConfig)?.name === name
    })
  )
}

/** @throws OptionsError if the API server or a folder would refuse the rules */
function requireValid(parent: StoredObject, lifecycle: readonly LifecycleRule[]): void {
  const spec = { ...(parent.spec as object), lifecycle }
  const parsed = parseResource(parent.kind, { ...parent, spec })
  const issues = parsed.ok ? mistakesIn(parsed.resource) : parsed.issues
  const [issue] = issues.filter(({ path }) => path[1] === 'lifecycle')
  if (issue !== undefined) throw new OptionsError([`${issue.path.at(-1)} ${issue.message}`])
}

/** The rules that come and go, and the Versions whose rules are others. */
function textOf(
  objects: Objects,
  parent: StoredObject,
  before: readonly LifecycleRule[],
  after: readonly LifecycleRule[],
): string {
  const { kind, metadata } = parent
  const { namespace, uid: ownerUid } = metadata
  const lines = [
    ...before.filter((rule) => !after.includes(rule)).map((rule) => `- ${ruleText(rule)}`),
    ...after.filter((rule) => !before.includes(rule)).map((rule) => `+ ${ruleText(rule)}`),
  ]
  const [old, now] = [new LifecycleRules(before), new LifecycleRules(after)]
  const { moduleConfig, providerConfig } = parent.spec as Spec
  const names = [metadata.name, (moduleConfig ?? providerConfig)?.name]
  const stored = objects
    .list('Version', { namespace })
    .filter(({ metadata: own, spec }) => {
      const { moduleConfigRef: a, providerConfigRef: b } = spec as Record<string, Named | undefined>
      const isOwned = own.ownerReferences.some(({ uid }) => uid === ownerUid)
      return isOwned || names.includes((a ?? b)?.name)
    })
    .map(({ spec }) => normalizeVersion((spec as { version: string }).version))
  const other = [...new Set(stored)].filter(
    (version) => JSON.stringify(old.matching(version)) !== JSON.stringify(now.matching(version)),
  )
  const some = other.slice(0, 10).join(', ')
  const concerns =
    other.length === 0
      ? 'No existing version is concerned.'
      : `Concerns ${some}${other.length > 10 ? ` and ${other.length - 10} more` : ''}.`
  return [`${kind} ${namespace}/${metadata.name}`, ...lines, concerns, ''].join('\n')
}

interface Named {
  readonly name?: string
}

const ruleText = (rule: LifecycleRule): string => {
  const words = lifecycleWords(rule)
  return `${rule.versions} is ${rule.state}${words && `: ${words}`}`
}
