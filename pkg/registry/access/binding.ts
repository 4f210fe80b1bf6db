import type { GroupBinding, ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { compileRule, ExpressionError, type Rule, Run } from '../../expr/expr.ts'
import { compileGlob } from './glob.ts'

/** A GroupBinding that is ready to be asked. */
export interface Binding {
  readonly name: string
  readonly spec: GroupBinding['spec']
  /** What is wrong with it, in words for its author: an expression that does not compile, globs that match nothing. */
  readonly problem: string | undefined
  readonly rule: Rule | ExpressionError
  readonly modules: readonly ((name: string) => boolean)[]
}

/** Whom the bindings let in. */
export type AccessDecision =
  | { readonly kind: 'matched'; readonly binding: Binding }
  | { readonly kind: 'none' }
  /** A binding before any match cannot be evaluated, so nothing is decided. */
  | { readonly kind: 'failed'; readonly name: string; readonly error: ExpressionError }

/** What one binding says, whatever the others do. */
export interface BindingOutcome {
  readonly name: string
  readonly result: boolean | ExpressionError
}

/** Of steps for one list of groups, over all bindings: about a second, however many and bad they are. */
export const maxSteps = 10_000_000

/** Compiles what can be compiled; what cannot be denies, and is reported as the problem of the binding. */
export function compileBinding({ metadata: { name }, spec }: GroupBinding): Binding {
  const rule = ruleOf(spec.expression)
  const problems = rule instanceof ExpressionError ? [`expression: ${rule.message}`] : []
  const modules: ((name: string) => boolean)[] = []
  for (const pattern of spec.moduleResources ?? []) {
    try {
      modules.push(compileGlob(pattern))
    } catch (thrown) {
      problems.push(`moduleResources ${JSON.stringify(pattern)}: ${messageOf(thrown)}`)
    }
  }
  return { name, spec, rule, modules, problem: problems.join('\n') || undefined }
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
 * Whether a binding lets its callers see a module or provider. An empty list allows nothing, and neither does a
 * malformed glob.
 *
 * @param name metadata.name of the resource
 */
export function allows(binding: Binding, kind: ParentKind, name: string): boolean {
  if (kind === 'Module') return binding.modules.some((matches) => matches(name))
  const providers = binding.spec.providerResources ?? []
  return providers.includes('*') || providers.includes(name)
}

/** Asks one binding, with so many steps left for all of them. */
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

/** Whether nothing changed that matters here. */
export function sameSpec(left: GroupBinding['spec'], right: GroupBinding['spec']): boolean {
  const fields = ({ expression, moduleResources, providerResources }: GroupBinding['spec']) =>
    JSON.stringify([expression, moduleResources ?? [], providerResources ?? []])
  return fields(left) === fields(right)
}
