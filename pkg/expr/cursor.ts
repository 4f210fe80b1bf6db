import type { Node } from './ast.ts'
import { Fault } from './expression-error.ts'
import { type SyntaxToken, tokenize } from './lexer.ts'

/** Limit of the source, in bytes of UTF-8. */
const maxSourceBytes = 16 * 1024
const maxNodes = 10_000
/** Limit of nested brackets, operators and branches; leaves room for 200 nested brackets. */
const maxDepth = 400
/** Limit of members or pipes in a row, which nest as well. */
const maxRun = 200

/** A position in the tokens of an expression, with the limits of what is built from them. */
export class Cursor {
  readonly #tokens: readonly SyntaxToken[]
  #index = 0
  #nodes = 0
  #depth = 0
  /** Number of closures around this position. `#` is known only inside them. */
  closures = 0

  constructor(source: string) {
    if (Buffer.byteLength(source) > maxSourceBytes) {
      throw new Fault('TooLarge', 0, `the expression is longer than ${maxSourceBytes} bytes`)
    }
    this.#tokens = tokenize(source)
  }

  get token(): SyntaxToken {
    return this.#peek(0)
  }

  get following(): SyntaxToken {
    return this.#peek(1)
  }

  is(kind: 'operator' | 'bracket', text: string): boolean {
    return this.token.kind === kind && this.token.text === text
  }

  next(): SyntaxToken {
    const token = this.token
    this.#index += 1
    return token
  }

  /** Skips the token if it is this one. */
  skip(kind: 'operator' | 'bracket', text: string): boolean {
    const found = this.is(kind, text)
    if (found) this.#index += 1
    return found
  }

  expect(kind: 'operator' | 'bracket', text: string): void {
    if (!this.skip(kind, text)) throw this.unexpected(`'${text}'`)
  }

  name(): SyntaxToken {
    if (this.token.kind !== 'name') throw this.unexpected('a name')
    return this.next()
  }

  unexpected(wanted?: string): Fault {
    const { kind, text, at } = this.token
    const found = kind === 'end' ? text : `${kind} '${text.slice(0, 40)}'`
    const hint = wanted === undefined ? '' : `; expected ${wanted}`
    return new Fault('InvalidSyntax', at, `unexpected ${found}${hint}`)
  }

  /** Counts nodes. Parentheses are not nodes. */
  node(node: Node): Node {
    this.countNode(node.at)
    return node
  }

  countNode(at: number): void {
    this.#nodes += 1
    if (this.#nodes > maxNodes) {
      throw new Fault('TooLarge', at, `the expression has more than ${maxNodes} parts`)
    }
  }

  nested<T>(parse: () => T): T {
    this.#depth += 1
    if (this.#depth > maxDepth) throw this.#tooDeep()
    const result = parse()
    this.#depth -= 1
    return result
  }

  checkRun(length: number): void {
    if (length > maxRun) throw this.#tooDeep()
  }

  #tooDeep(): Fault {
    return new Fault('TooLarge', this.token.at, 'the expression is nested too deeply')
  }

  #peek(ahead: number): SyntaxToken {
    const last = this.#tokens.length - 1
    const token = this.#tokens[Math.min(this.#index + ahead, last)]
    if (token === undefined) throw new Error('the tokens have no end')
    return token
  }
}
