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
  readonly modules: readonly ((name: string) => boolean)[]
}

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
}

/** Limit of steps for one list of groups, over all bindings: about a second. */
export const maxSteps = 10_000_000

/** Compiles the valid parts. Invalid parts deny access, and are reported as the problem of the binding. */
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
 * Whether a binding shows a module or provider. An empty list and a malformed glob allow nothing.
 *
 * @param name metadata.name of the resource
 */
export function allows(binding: Binding, kind: ParentKind, name: string): boolean {
  if (kind === 'Module') return binding.modules.some((matches) => matches(name))
  const providers = binding.spec.providerResources ?? []
  return providers.includes('*') || providers.includes(name)
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
  const fields = ({ expression, moduleResources, providerResources }: GroupBinding['spec']) =>
    JSON.stringify([expression, moduleResources ?? [], providerResources ?? []])
  return fields(left) === fields(right)
}
