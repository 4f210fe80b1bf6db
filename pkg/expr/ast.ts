/** A node of an expression; `at` is the offset that errors point to. */
export type Node = { readonly at: number } & (
  | { readonly kind: 'nil' }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'pointer'; readonly name: string }
  | { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly operand: Node }
  | Binary
  | Comparison
  | {
      readonly kind: 'conditional'
      readonly condition: Node
      readonly consequent: Node
      readonly alternate: Node
    }
  | { readonly kind: 'let'; readonly name: string; readonly value: Node; readonly body: Node }
  | { readonly kind: 'sequence'; readonly nodes: readonly Node[] }
  | { readonly kind: 'array'; readonly items: readonly Node[] }
  | {
      readonly kind: 'map'
      readonly pairs: readonly { readonly key: Node; readonly value: Node }[]
    }
  | {
      readonly kind: 'member'
      readonly object: Node
      readonly property: Node
      readonly optional: boolean
    }
  | { readonly kind: 'chain'; readonly inner: Node }
  | Slice
  | Call
  | { readonly kind: 'closure'; readonly body: Node }
)

export type UnaryOperator = 'not' | '-' | '+'

/** `and`, `or` and `^` are parsed as their other spelling. */
export type BinaryOperator =
  | '||'
  | '&&'
  | '=='
  | '!='
  | 'in'
  | 'matches'
  | 'contains'
  | 'startsWith'
  | 'endsWith'
  | '..'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '**'
  | '??'

export interface Binary {
  readonly kind: 'binary'
  readonly at: number
  readonly operator: BinaryOperator
  readonly left: Node
  readonly right: Node
}

export type ComparisonOperator = '<' | '>' | '<=' | '>='

/** `a < b <= c`: every operand is evaluated once, and each pair must hold. */
export interface Comparison {
  readonly kind: 'comparison'
  readonly at: number
  readonly operands: readonly Node[]
  readonly operators: readonly ComparisonOperator[]
}

/** `list[1:3]`. */
export interface Slice {
  readonly kind: 'slice'
  readonly at: number
  readonly object: Node
  readonly from: Node | undefined
  readonly to: Node | undefined
}

/** A call of a builtin. */
export interface Call {
  readonly kind: 'call'
  readonly at: number
  readonly name: string
  readonly args: readonly Node[]
  /** For `find` and `findLast`: no match is an error. */
  readonly throws?: boolean
  /** For `count`: stop at so many matches. */
  readonly threshold?: bigint
}

/**
 * The left-deep chain of binary operators that ends in a node, innermost first. Long rules are such chains, so tree walks
 * loop over them instead of recursing.
 */
export function leftSpine(node: Binary): { first: Node; chain: Binary[] } {
  const chain: Binary[] = []
  let first: Node = node
  while (first.kind === 'binary') {
    chain.push(first)
    first = first.left
  }
  return { first, chain: chain.toReversed() }
}
