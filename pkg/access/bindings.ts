import { hash } from 'node:crypto'
import type { GroupBinding } from '../apis/v1alpha1/v1alpha1.ts'
import { messageOf } from '../errors/errors.ts'
import { compareText, compileRule, ExpressionError, listOf, type Rule, Run } from '../expr/expr.ts'
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
export type Decision =
  | { readonly kind: 'matched'; readonly binding: Binding }
  | { readonly kind: 'none' }
  /** A binding before any match has no answer, so there is none at all. */
  | { readonly kind: 'failed'; readonly name: string; readonly error: ExpressionError }

/** What one binding says, whatever the others do. */
export interface Outcome {
  readonly name: string
  readonly result: boolean | ExpressionError
}

/** How many lists of groups are remembered; the longest unused is forgotten first. */
const maxRemembered = 10_000
/** Of steps for one list of groups, over all bindings: about a second, however many and bad they are. */
const maxSteps = 10_000_000

/** Compiles what can be compiled; what cannot be denies, and is told as the problem of the binding. */
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
export function allows(binding: Binding, kind: 'Module' | 'Provider', name: string): boolean {
  if (kind === 'Module') return binding.modules.some((matches) => matches(name))
  const providers = binding.spec.providerResources ?? []
  return providers.includes('*') || providers.includes(name)
}

/** Every GroupBinding, in the order of their names. */
export class Bindings {
  readonly #byName = new Map<string, Binding>()
  #ordered: readonly Binding[] | undefined
  readonly #decisions = new Map<string, Decision>()

  /** @returns the compiled binding if it is new or its spec changed, so that what is wrong with it is said once */
  upsert(resource: GroupBinding): Binding | undefined {
    const { name } = resource.metadata
    const known = this.#byName.get(name)
    if (known !== undefined && sameSpec(known.spec, resource.spec)) return undefined
    const binding = compileBinding(resource)
    this.#byName.set(name, binding)
    this.#changed()
    return binding
  }

  delete(name: string): void {
    if (this.#byName.delete(name)) this.#changed()
  }

  /** In the order in which they are asked: by the bytes of their names. */
  get ordered(): readonly Binding[] {
    this.#ordered ??= [...this.#byName.values()].toSorted((left, right) =>
      compareText(left.name, right.name),
    )
    return this.#ordered
  }

  /**
   * The first binding whose expression is true. One that does not compile or evaluate ends the search.
   *
   * @param groups in the order of the token, which an expression can tell
   */
  decide(groups: readonly string[]): Decision {
    const key = hash('sha256', JSON.stringify(groups), 'base64')
    const remembered = this.#decisions.get(key)
    const decision = remembered ?? this.#search(groups)
    this.#decisions.delete(key)
    this.#decisions.set(key, decision)
    if (this.#decisions.size > maxRemembered) {
      const [oldest = key] = this.#decisions.keys()
      this.#decisions.delete(oldest)
    }
    return decision
  }

  /** What every binding says, for those who want to know why. */
  explain(groups: readonly string[]): Outcome[] {
    const list = listOf(groups)
    let left = maxSteps
    return this.ordered.map((binding) => {
      const { result, steps } = ask(binding, list, left)
      left -= steps
      return { name: binding.name, result }
    })
  }

  #search(groups: readonly string[]): Decision {
    const list = listOf(groups)
    let left = maxSteps
    for (const binding of this.ordered) {
      const { result, steps } = ask(binding, list, left)
      left -= steps
      if (result === true) return { kind: 'matched', binding }
      if (result !== false) return { kind: 'failed', name: binding.name, error: result }
    }
    return { kind: 'none' }
  }

  #changed(): void {
    this.#ordered = undefined
    this.#decisions.clear()
  }
}

function ask(
  { rule, spec }: Binding,
  groups: readonly string[],
  left: number,
): { result: Outcome['result']; steps: number } {
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

function sameSpec(left: GroupBinding['spec'], right: GroupBinding['spec']): boolean {
  const fields = ({ expression, moduleResources, providerResources }: GroupBinding['spec']) =>
    JSON.stringify([expression, moduleResources ?? [], providerResources ?? []])
  return fields(left) === fields(right)
}
