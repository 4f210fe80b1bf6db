import type { BinaryOperator, ComparisonOperator, Node } from './ast.ts'
import { Cursor } from './cursor.ts'
import { Fault } from './expression-error.ts'
import { parsePipe, parsePrimary } from './primary.ts'

interface Operator {
  readonly precedence: number
  readonly means: BinaryOperator | ComparisonOperator | '|'
}

const binary = new Map<string, Operator>([
  ['|', { precedence: 0, means: '|' }],
  ['or', { precedence: 10, means: '||' }],
  ['||', { precedence: 10, means: '||' }],
  ['and', { precedence: 15, means: '&&' }],
  ['&&', { precedence: 15, means: '&&' }],
  ['==', { precedence: 20, means: '==' }],
  ['!=', { precedence: 20, means: '!=' }],
  ['<', { precedence: 20, means: '<' }],
  ['>', { precedence: 20, means: '>' }],
  ['<=', { precedence: 20, means: '<=' }],
  ['>=', { precedence: 20, means: '>=' }],
  ['in', { precedence: 20, means: 'in' }],
  ['matches', { precedence: 20, means: 'matches' }],
  ['contains', { precedence: 20, means: 'contains' }],
  ['startsWith', { precedence: 20, means: 'startsWith' }],
  ['endsWith', { precedence: 20, means: 'endsWith' }],
  ['..', { precedence: 25, means: '..' }],
  ['+', { precedence: 30, means: '+' }],
  ['-', { precedence: 30, means: '-' }],
  ['*', { precedence: 60, means: '*' }],
  ['/', { precedence: 60, means: '/' }],
  ['%', { precedence: 60, means: '%' }],
  ['**', { precedence: 100, means: '**' }],
  ['^', { precedence: 100, means: '**' }],
  ['??', { precedence: 500, means: '??' }],
])
const afterNot = new Set(['in', 'matches', 'contains', 'startsWith', 'endsWith'])

/** Parses a whole expression. @throws Fault InvalidSyntax, Unsupported or TooLarge */
export function parse(source: string): Node {
  const cursor = new Cursor(source)
  const node = parseSequence(cursor)
  if (cursor.token.kind !== 'end') throw cursor.unexpected()
  return node
}

/** `a; b; c` has the value of the last part. A semicolon may end the whole expression, but not an inner sequence. */
export function parseSequence(cursor: Cursor): Node {
  const first = parseExpression(cursor, 0)
  const nodes = [first]
  while (cursor.skip('operator', ';') && cursor.token.kind !== 'end') {
    nodes.push(parseExpression(cursor, 0))
  }
  return nodes.length === 1 ? first : cursor.node({ kind: 'sequence', at: first.at, nodes })
}

/** Parses operators that bind at least as tightly as `precedence`; 0 is a whole expression, with its branches. */
export function parseExpression(cursor: Cursor, precedence: number): Node {
  return cursor.nested(() => {
    if (precedence > 0) return parseBinary(cursor, precedence)
    if (cursor.is('operator', 'let')) return parseLet(cursor)
    if (cursor.is('operator', 'if')) return parseIf(cursor)
    return parseBranches(cursor, parseBinary(cursor, 0))
  })
}

function parseBinary(cursor: Cursor, precedence: number): Node {
  let left = parsePrimary(cursor)
  let previous = ''
  let pipes = 0
  while (cursor.token.kind === 'operator') {
    const negated = cursor.is('operator', 'not')
    const token = negated ? cursor.following : cursor.token
    if (negated && !(token.kind === 'operator' && afterNot.has(token.text))) {
      cursor.next()
      throw cursor.unexpected("one of 'in', 'contains', 'matches', 'startsWith', 'endsWith'")
    }
    const operator = binary.get(token.text)
    if (operator === undefined || operator.precedence < precedence) break
    if (negated) cursor.next()
    cursor.next()

    if (operator.means === '|') {
      pipes += 1
      cursor.checkRun(pipes)
      left = parsePipe(cursor, left)
    } else if (previous === '??' && operator.means !== '??') {
      const message = `${token.text} after ?? needs parentheses around one of them`
      throw new Fault('InvalidSyntax', token.at, message)
    } else if (isComparison(operator.means)) {
      left = parseComparison(cursor, left, operator.means, token.at)
    } else {
      const tighter = operator.means === '**' ? operator.precedence : operator.precedence + 1
      const right = parseExpression(cursor, tighter)
      left = cursor.node({ kind: 'binary', at: token.at, operator: operator.means, left, right })
      if (negated) {
        left = cursor.node({ kind: 'unary', at: token.at, operator: 'not', operand: left })
      }
    }
    previous = operator.means
  }
  return left
}

function parseComparison(
  cursor: Cursor,
  first: Node,
  operator: ComparisonOperator,
  at: number,
): Node {
  const operands = [first]
  const operators = [operator]
  cursor.countNode(at)
  for (;;) {
    operands.push(parseExpression(cursor, 21))
    const next = binary.get(cursor.token.text)?.means
    if (cursor.token.kind !== 'operator' || next === undefined || !isComparison(next)) break
    operators.push(next)
    // A further pair counts twice: the comparison, and the && before it.
    cursor.countNode(cursor.token.at)
    cursor.countNode(cursor.next().at)
  }
  return { kind: 'comparison', at, operands, operators }
}

function isComparison(operator: string): operator is ComparisonOperator {
  return operator === '<' || operator === '>' || operator === '<=' || operator === '>='
}

function parseLet(cursor: Cursor): Node {
  cursor.next()
  const { text: name, at } = cursor.name()
  cursor.expect('operator', '=')
  const value = parseExpression(cursor, 0)
  cursor.expect('operator', ';')
  const body = parseSequence(cursor)
  return cursor.node({ kind: 'let', at, name, value, body })
}

/** An `if` is a whole expression: no operator may follow. */
function parseIf(cursor: Cursor): Node {
  const { at } = cursor.next()
  const condition = parseExpression(cursor, 0)
  const consequent = parseBlock(cursor)
  cursor.expect('operator', 'else')
  const alternate = cursor.is('operator', 'if')
    ? cursor.nested(() => parseIf(cursor))
    : parseBlock(cursor)
  return { kind: 'conditional', at, condition, consequent, alternate }
}

function parseBlock(cursor: Cursor): Node {
  cursor.expect('bracket', '{')
  const node = parseSequence(cursor)
  cursor.expect('bracket', '}')
  return node
}

/** `a ? b : c` and `a ?: c`. */
function parseBranches(cursor: Cursor, condition: Node): Node {
  let node = condition
  for (let run = 1; cursor.is('operator', '?'); run += 1) {
    cursor.checkRun(run)
    const { at } = cursor.next()
    const short = cursor.is('operator', ':')
    const consequent = short ? node : parseExpression(cursor, 0)
    cursor.expect('operator', ':')
    const alternate = parseExpression(cursor, 0)
    node = cursor.node({ kind: 'conditional', at, condition: node, consequent, alternate })
  }
  return node
}
