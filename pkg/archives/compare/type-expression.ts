/** A type constraint of a variable. */
export type TypeExpression =
  | { readonly is: 'any' | 'string' | 'number' | 'bool' }
  | { readonly is: 'list' | 'set' | 'map'; readonly element: TypeExpression }
  | { readonly is: 'tuple'; readonly elements: readonly TypeExpression[] }
  | { readonly is: 'object'; readonly attributes: ReadonlyMap<string, Attribute> }

interface Attribute {
  readonly type: TypeExpression
  readonly optional: boolean
}

const maxDepth = 64
/** Comments and quotes without an end extend to the end of the text, so that no part is searched twice. */
const token =
  /\s+|#[^\n]*|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|("(?:[^"\\]|\\[^])*(?:"|\\?$)|[\w-]+|[^\s])/gy

/**
 * Parses a type constraint as Terraform does.
 *
 * @param text undefined is `any`, as for a variable without a type
 * @returns undefined if it is not a type constraint
 */
export function parseType(text: string | undefined): TypeExpression | undefined {
  if (text === undefined) return { is: 'any' }
  const tokens = [...text.matchAll(token)].flatMap(([, word]) => word ?? [])
  const parser = new TypeParser(tokens)
  const type = parser.type(0)
  return parser.isAtEnd ? type : undefined
}

class TypeParser {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens
  }

  get isAtEnd(): boolean {
    return this.#at === this.#tokens.length
  }

  type(depth: number): TypeExpression | undefined {
    if (depth > maxDepth) return undefined
    const name: string = this.#next() ?? ''
    switch (name) {
      case 'any':
      case 'string':
      case 'number':
      case 'bool':
        return { is: name }
      case 'list':
      case 'set':
      case 'map': {
        // Terraform 0.11 wrote `list` for a list of any type.
        if (this.#peek() !== '(' && name !== 'set') return { is: name, element: { is: 'any' } }
        const element = this.#inParentheses(() => this.type(depth + 1))
        return element && { is: name, element }
      }
      case 'tuple': {
        const elements = this.#inParentheses(() => this.#elements(depth + 1))
        return elements && { is: 'tuple', elements }
      }
      case 'object': {
        const attributes = this.#inParentheses(() => this.#attributes(depth + 1))
        return attributes && { is: 'object', attributes }
      }
      default:
        return undefined
    }
  }

  #elements(depth: number): TypeExpression[] | undefined {
    if (!this.#skip('[')) return undefined
    const elements: TypeExpression[] = []
    while (!this.#skip(']')) {
      const element = this.type(depth)
      if (element === undefined) return undefined
      elements.push(element)
      if (!this.#skip(',') && this.#peek() !== ']') return undefined
    }
    return elements
  }

  #attributes(depth: number): Map<string, Attribute> | undefined {
    if (!this.#skip('{')) return undefined
    const attributes = new Map<string, Attribute>()
    while (!this.#skip('}')) {
      const name = this.#next()?.replaceAll('"', '')
      if (name === undefined || (!this.#skip('=') && !this.#skip(':'))) return undefined
      const optional = this.#peek() === 'optional'
      const type = optional ? this.#optional(depth) : this.type(depth)
      if (type === undefined) return undefined
      attributes.set(name, { type, optional })
      this.#skip(',')
    }
    return attributes
  }

  #optional(depth: number): TypeExpression | undefined {
    this.#next()
    return this.#inParentheses(() => {
      const type = this.type(depth)
      if (this.#skip(',')) this.#skipDefault()
      return type
    })
  }

  /** The default of an optional attribute can be any expression. Skips it up to the parenthesis that ends it. */
  #skipDefault(): void {
    for (let depth = 0; !this.isAtEnd; ) {
      const next = this.#peek() ?? ''
      if (depth === 0 && next === ')') return
      if ('([{'.includes(next)) depth += 1
      if (')]}'.includes(next)) depth -= 1
      this.#next()
    }
  }

  #inParentheses<T>(inside: () => T | undefined): T | undefined {
    if (!this.#skip('(')) return undefined
    const found = inside()
    return this.#skip(')') ? found : undefined
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at]
  }

  #next(): string | undefined {
    this.#at += 1
    return this.#tokens[this.#at - 1]
  }

  #skip(expected: string): boolean {
    if (this.#peek() !== expected) return false
    this.#at += 1
    return true
  }
}

/** Whether values that were accepted are still accepted. The result of a whole is the worst result of its parts. */
interface Assignability {
  readonly verdict: 'compatible' | 'unknown' | 'breaking'
  /** The reason, as the end of a sentence. */
  readonly why?: string
}

const compatible: Assignability = { verdict: 'compatible' }
const unknown = (why: string): Assignability => ({ verdict: 'unknown', why })
const breaking = (why: string): Assignability => ({ verdict: 'breaking', why })

/** Conversions between primitive types that succeed for every value. */
const widening: ReadonlySet<string> = new Set(['number string', 'bool string'])

/**
 * Compares two type constraints of a variable, by the conversions of Terraform.
 *
 * @param from the constraint that callers wrote their values for
 * @param path of the part, such as `[*].name`; empty for the whole
 */
export function assignable(from: TypeExpression, to: TypeExpression, path = ''): Assignability {
  const where = path === '' ? 'it' : path
  if (to.is === 'any') return compatible
  if (from.is === 'any') return unknown(`${where} accepted any type, and accepts ${to.is} now`)
  if (to.is === 'tuple') {
    if (from.is !== 'tuple') return breaking(changed(where, from, to))
    if (from.elements.length !== to.elements.length) {
      const counts = `${from.elements.length} elements, and has ${to.elements.length} now`
      return breaking(`${where} had ${counts}`)
    }
    return worst(
      to.elements.map((element, index) =>
        assignable(from.elements[index] ?? element, element, `${path}[${index}]`),
      ),
    )
  }
  if (to.is === 'object') return objectFrom(from, to.attributes, path)
  if (to.is === 'map') return mapFrom(from, to.element, path)
  if (to.is === 'list' || to.is === 'set') return collectionFrom(from, to, path)
  if (from.is === to.is || widening.has(`${from.is} ${to.is}`)) return compatible
  return breaking(changed(where, from, to))
}

const changed = (where: string, from: TypeExpression, to: TypeExpression): string =>
  `${where} was ${from.is}, and is ${to.is} now`

/** Lists and sets convert into each other, and tuples into both. */
function collectionFrom(
  from: TypeExpression,
  to: Extract<TypeExpression, { readonly element: TypeExpression }>,
  path: string,
): Assignability {
  if (from.is === 'list' || from.is === 'set') {
    return assignable(from.element, to.element, `${path}[*]`)
  }
  if (from.is !== 'tuple') return breaking(changed(path || 'it', from, to))
  const elements = from.elements.map((element, index) =>
    assignable(element, to.element, `${path}[${index}]`),
  )
  const isMixed = to.element.is === 'any' && from.elements.length > 1
  if (isMixed) return unknown(`${path || 'it'} needs elements of one type now`)
  return worst(elements)
}

function mapFrom(from: TypeExpression, element: TypeExpression, path: string): Assignability {
  const where = path || 'it'
  if (from.is === 'map') return assignable(from.element, element, `${path}[*]`)
  if (from.is !== 'object') return breaking(`${where} was ${from.is}, and is map now`)
  const attributes = [...from.attributes].map(([name, { type }]) =>
    assignable(type, element, `${path}.${name}`),
  )
  const result = worst(attributes)
  if (result.verdict === 'breaking') return result
  return unknown(`${where} ignored other attributes, and needs all of one type now`)
}

function objectFrom(
  from: TypeExpression,
  attributes: ReadonlyMap<string, Attribute>,
  path: string,
): Assignability {
  const where = path || 'it'
  if (from.is === 'map') {
    const required = [...attributes].find(([, { optional }]) => !optional)
    if (required !== undefined) {
      return breaking(`${where} was map, and requires the attribute ${required[0]} now`)
    }
    const parts = [...attributes].map(([name, { type }]) =>
      assignable(from.element, type, `${path}.${name}`),
    )
    const result = worst(parts)
    if (result.verdict === 'breaking') return result
    return unknown(`${where} accepted any key, and ignores all but its attributes now`)
  }
  if (from.is !== 'object') return breaking(changed(where, from, { is: 'object', attributes }))
  const parts = [...attributes].map(([name, { type, optional }]) => {
    const before = from.attributes.get(name)
    if (before === undefined) {
      return optional ? compatible : breaking(`${path}.${name} is a new required attribute`)
    }
    if (before.optional && !optional) return breaking(`${path}.${name} is required now`)
    return assignable(before.type, type, `${path}.${name}`)
  })
  const removed = [...from.attributes.keys()].filter((name) => !attributes.has(name))
  return worst([
    ...parts,
    ...removed.map((name) => unknown(`${path}.${name} was removed, and is ignored now`)),
  ])
}

function worst(parts: readonly Assignability[]): Assignability {
  return (
    parts.find(({ verdict }) => verdict === 'breaking') ??
    parts.find(({ verdict }) => verdict === 'unknown') ??
    compatible
  )
}
