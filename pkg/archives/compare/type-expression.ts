/** A type constraint of a variable. */
export type TypeExpression =
  | { readonly is: 'any' | 'string' | 'number' | 'bool' }
  | { readonly is: 'list' | 'set' | 'map'; readonly element: TypeExpression }
  | { readonly is: 'tuple'; readonly elements: readonly TypeExpression[] }
  | { readonly is: 'object'; readonly attributes: ReadonlyMap<string, Attribute> }

export interface Attribute {
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
