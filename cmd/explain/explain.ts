import {
  type ExplainCommandOptions,
  OptionsError,
  requireNone,
} from '../../pkg/base/options/options.ts'
import { folderProblem } from '../../pkg/base/run/run.ts'
import { ExpressionError } from '../../pkg/expr/expr.ts'
import type { GroupBindings } from '../../pkg/registry/access/access.ts'
import { explainAddress } from './address.ts'
import { explainExpression } from './expression.ts'
import { readRecords } from './records.ts'

export { explainAddress } from './address.ts'
// Other commands also read records and explain addresses.
export { type RecordsSource, readInto } from './records.ts'

/**
 * Explains how each GroupBinding evaluates a caller's groups, and which one decides; or, with an address, which object has it.
 *
 * @throws OptionsError if the records cannot be read
 */
export async function explain(
  options: ExplainCommandOptions,
  [address, version, ...others]: readonly string[] = [],
): Promise<string> {
  const { manifests, expression } = options
  if (expression !== undefined) return explainExpression(options, expression)
  requireNone(manifests === undefined ? undefined : folderProblem('--manifests', manifests))
  if (others.length > 0) throw new OptionsError(['write one address and at most one version'])
  if (address !== undefined) return explainAddress(options, address, version)
  const { bindings } = await readRecords(options, { kinds: ['GroupBinding'] })
  const explained = explanationOf(bindings, options)
  return options.output === 'json'
    ? `${JSON.stringify(explained, null, 2)}\n`
    : textOf(explained, bindings)
}

type Explanation = ReturnType<typeof explanationOf>

function explanationOf(bindings: GroupBindings, { groups, namespace, job }: ExplainCommandOptions) {
  const decision = bindings.decide(groups, job)
  const matched = decision.kind === 'matched' ? decision.binding : undefined
  const decidedBy = decision.kind === 'failed' ? decision.name : matched?.name
  const { moduleResources = [], providerResources = [] } = matched?.spec ?? {}
  const { publishNamespaces = [], publishModules = [], publishProviders = [] } = matched?.spec ?? {}
  return {
    groups,
    namespace,
    /** In the order of evaluation. */
    bindings: bindings.explain(groups, job).map(({ name, result, counts }) => ({
      name,
      result:
        result instanceof ExpressionError ? `${result.code}: ${result.summary}` : String(result),
      counts,
      decides: name === decidedBy,
    })),
    /** `matched`, `failed` or `none`. */
    decision: decision.kind,
    decidedBy,
    /** Names and globs that the caller sees, in addition to what is public. */
    modules: moduleResources,
    providers: providerResources,
    /** Names and globs that the caller may publish. */
    publishes: {
      namespaces: publishNamespaces,
      modules: publishModules,
      providers: publishProviders,
    },
  }
}

function textOf(explained: Explanation, bindings: GroupBindings): string {
  const { groups, namespace, decision, decidedBy, modules, providers, publishes } = explained
  const lines = [
    `Groups: ${groups.length === 0 ? 'none' : groups.map((group) => JSON.stringify(group)).join(', ')}`,
    `GroupBindings in namespace ${namespace}, in the order of evaluation:`,
    ...explained.bindings.map(
      ({ name, result, counts, decides }) =>
        `  ${name}: ${result}${counts ? '' : ', and does not count for jobs, because it needs no group'}${decides ? '   <- decides' : ''}`,
    ),
  ]
  for (const { name, problem } of bindings.ordered) {
    if (problem !== undefined) lines.push('', `${name} is not valid:`, indent(problem))
  }
  lines.push('')
  if (decision === 'matched') {
    lines.push(
      `Result: ${decidedBy} matches. In addition to what is public, the caller sees`,
      `  modules: ${modules.join(', ') || 'none'}`,
      `  providers: ${providers.join(', ') || 'none'}`,
    )
    if (publishes.namespaces.length > 0) {
      lines.push(
        `and publishes in ${publishes.namespaces.join(', ')}`,
        `  modules: ${publishes.modules.join(', ') || 'none'}`,
        `  providers: ${publishes.providers.join(', ') || 'none'}`,
      )
    }
  } else if (decision === 'failed') {
    lines.push(`Result: denied (403), because ${decidedBy} could not be evaluated.`)
  } else {
    lines.push('Result: no GroupBinding matches. The caller sees what is public.')
  }
  return `${lines.join('\n')}\n`
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ')
}
