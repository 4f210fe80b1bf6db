import type { PublishRight } from '../../api/browse/browse.ts'
import type { GroupBinding, ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { compileRule, ExpressionError, type Rule, Run } from '../../expr/expr.ts'
import { compileGlob } from './glob.ts'

/** A compiled GroupBinding. */
export interface Binding {
  readonly name: string
  readonly spec: GroupBinding['spec']
  /** Its mistakes, for its author: an expression that does not compile, malformed globs. */
  readonly problem: string | undefined
  readonly rule: Rule | ExpressionError
  readonly modules: readonly Glob[]
  /** Modules and Providers that members may publish in its `publishNamespaces`. */
  readonly published: Readonly<Record<ParentKind, readonly Glob[]>>
}

type Glob = (name: string) => boolean

/** The decision of the bindings about a caller. */
export type AccessDecision =
  | { readonly kind: 'matched'; readonly binding: Binding }
  | { readonly kind: 'none' }
  /** A binding before any match cannot be evaluated, so access is denied. */
  | { readonly kind: 'failed'; readonly name: string; readonly error: ExpressionError }

/** The result of one binding, independent of the others. */
export interface BindingOutcome {
  readonly name: string
  readonly result: boolean | ExpressionError
  /** Whether it counts for the caller: some do not for jobs of CI. */
  readonly counts: boolean
}

/** Limit of steps for one list of groups, over all bindings: about a second. */
export const maxSteps = 10_000_000

/** Compiles the valid parts. Invalid parts deny access, and are reported as the problem of the binding. */
export function compileBinding({ metadata: { name }, spec }: GroupBinding): Binding {
  const rule = ruleOf(spec.expression)
  const problems = rule instanceof ExpressionError ? [`expression: ${rule.message}`] : []
  const globsIn = (field: 'moduleResources' | 'publishModules' | 'publishProviders'): Glob[] =>
    (spec[field] ?? []).flatMap((pattern) => {
      try {
        return compileGlob(pattern)
      } catch (thrown) {
        problems.push(`${field} ${JSON.stringify(pattern)}: ${messageOf(thrown)}`)
        return []
      }
    })
  const modules = globsIn('moduleResources')
  const published = { Module: globsIn('publishModules'), Provider: globsIn('publishProviders') }
  return { name, spec, rule, modules, published, problem: problems.join('\n') || undefined }
}

function ruleOf(expression: string): Rule | ExpressionError {
  try {
    return compileRule(expression)
  } catch (thrown) {
    if (!(thrown instanceof ExpressionError)) throw thrown
    return thrown
  }
}

/**
 * Whether a binding shows a module or provider. An empty list and a malformed glob allow nothing.
 *
 * @param name metadata.name of the resource
 */
export function allows(binding: Binding, kind: ParentKind, name: string): boolean {
  if (kind === 'Module') return binding.modules.some((matches) => matches(name))
  const providers = binding.spec.providerResources ?? []
  return providers.includes('*') || providers.includes(name)
}

/**
 * Whether members may write Versions of a module or provider. What a binding shows gives no right to publish.
 *
 * @param name metadata.name of the resource
 */
export function allowsPublishing(
  { spec, published }: Binding,
  kind: ParentKind,
  namespace: string,
  name: string,
): boolean {
  const isOfNamespace = spec.publishNamespaces?.includes(namespace) === true
  return isOfNamespace && published[kind].some((matches) => matches(name))
}

/** The namespaces that members may publish to, and the names there. */
export function publishRightsOf({ spec }: Binding): PublishRight[] {
  const { publishNamespaces = [], publishModules: modules = [], publishProviders = [] } = spec
  if (modules.length + publishProviders.length === 0) return []
  return publishNamespaces.map((namespace) => ({ namespace, modules, providers: publishProviders }))
}

/** Evaluates one binding with the remaining steps of all of them. */
export function ask(
  { rule, spec }: Binding,
  groups: readonly string[],
  left: number,
): { result: BindingOutcome['result']; steps: number } {
  if (rule instanceof ExpressionError) return { result: rule, steps: 0 }
  if (left <= 0) {
    const message = `the bindings take more than ${maxSteps} steps for these groups`
    return { result: new ExpressionError('WorkExceeded', message, spec.expression, 0), steps: 0 }
  }
  const run = new Run(groups)
  try {
    return { result: rule(run), steps: run.steps }
  } catch (thrown) {
    if (!(thrown instanceof ExpressionError)) throw thrown
    return { result: thrown, steps: run.steps }
  }
}

/** Whether two specs are equal for access. */
export function sameSpec(left: GroupBinding['spec'], right: GroupBinding['spec']): boolean {
  const fields = (spec: GroupBinding['spec']) =>
    JSON.stringify([
      spec.expression,
      spec.moduleResources ?? [],
      spec.providerResources ?? [],
      spec.publishNamespaces ?? [],
      spec.publishModules ?? [],
      spec.publishProviders ?? [],
    ])
  return fields(left) === fields(right)
}
