import type { PublishRight } from '../../api/browse/browse.ts'
import type { GroupBinding, ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf, ReasonError } from '../../base/errors/errors.ts'
import { compileRule, ExpressionError, type Rule, Run } from '../../expr/expr.ts'

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

/** Limit of a pattern, in characters. Names are shorter. */
const maxLength = 1024

/**
 * Compiles a pattern of Go's path.Match: `*` is any run of characters but `/`, `?` one character but `/`, `[a-z]` and
 * `[^a-z]` one character in or not in a class, even `/`, and a backslash escapes the next character. The whole name must
 * match. A match takes at most time proportional to pattern times name.
 *
 * Go reports a malformed pattern when it is matched; this function reports it before.
 *
 * @throws ReasonError InvalidPattern where the pattern is malformed or longer than 1024 characters
 */
export function compileGlob(pattern: string): (name: string) => boolean {
  if (pattern.length > maxLength) {
    throw new ReasonError('InvalidPattern', `the pattern is longer than ${maxLength} characters`)
  }
  const reader = new Reader(pattern)
  /** Sources of what is between stars. */
  const chunks = ['']
  while (!reader.done) {
    const character = reader.next()
    if (character === '*') chunks.push('')
    else chunks.push(chunks.pop() + sourceOf(reader, character))
  }
  const [first, ...others] = chunks
  const last = others.pop()
  // The first position where a chunk fits is as good as any later one, so a look ahead keeps it from being tried again.
  const middle = others.map((chunk, index) => `(?=([^/]*?${chunk}))\\${index + 1}`)
  const end = last === undefined ? '' : `[^/]*${last}`
  const expression = new RegExp(`^${first}${middle.join('')}${end}$`, 'su')
  return (name) => expression.test(name)
}

function sourceOf(reader: Reader, character: string): string {
  if (character === '[') return classOf(reader)
  if (character === '?') return '[^/]'
  return literalOf(character === '\\' ? reader.next() : character)
}

/** The rest of a class after its opening bracket. At least one range is needed, and `]` and `-` need a backslash. */
function classOf(reader: Reader): string {
  const negation = reader.skip('^') ? '^' : ''
  let ranges = ''
  do {
    const from = reader.inClass()
    const to = reader.skip('-') ? reader.inClass() : from
    // The other way round a range has nothing in it.
    if (from <= to) ranges += `${from}-${to}`
  } while (!reader.skip(']'))
  return `[${negation}${ranges}]`
}

/** All of one length, so that their order is that of the characters. */
const literalOf = (character: string): string =>
  `\\u{${character.codePointAt(0)?.toString(16).padStart(6, '0')}}`

class Reader {
  readonly #characters: readonly string[]
  #index = 0

  constructor(pattern: string) {
    this.#characters = Array.from(pattern)
  }

  get done(): boolean {
    return this.#index >= this.#characters.length
  }

  next(): string {
    const character = this.#characters[this.#index]
    if (character === undefined)
      throw new ReasonError('InvalidPattern', 'the pattern ends too early')
    this.#index += 1
    return character
  }

  skip(character: string): boolean {
    const found = this.#characters[this.#index] === character
    if (found) this.#index += 1
    return found
  }

  /** The source of a character of a class. */
  inClass(): string {
    const character = this.next()
    if (character === '-' || character === ']') {
      throw new ReasonError('InvalidPattern', `'${character}' in a class needs a backslash`)
    }
    return literalOf(character === '\\' ? this.next() : character)
  }
}
