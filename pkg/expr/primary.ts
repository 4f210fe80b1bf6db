import type { Node, UnaryOperator } from './ast.ts'
import { builtinNames, predicates, refused } from './builtins.ts'
import type { Cursor } from './cursor.ts'
import { Fault } from './expression-error.ts'
import { readFloat, readInt } from './number-literal.ts'
import { parseExpression, parseSequence } from './parser.ts'

const unary = new Map<string, { precedence: number; means: UnaryOperator }>([
  ['not', { precedence: 50, means: 'not' }],
  ['!', { precedence: 50, means: 'not' }],
  ['-', { precedence: 90, means: '-' }],
  ['+', { precedence: 90, means: '+' }],
])

/** A value with its members, indexes and unary operators: `groups[0]`, `-x`, `(a; b).c`. */
export function parsePrimary(cursor: Cursor): Node {
  const { token } = cursor
  const operator = token.kind === 'operator' ? unary.get(token.text) : undefined
  if (operator !== undefined) {
    cursor.next()
    const operand = parseExpression(cursor, operator.precedence)
    const node = { kind: 'unary', at: token.at, operator: operator.means, operand } as const
    return parsePostfix(cursor, cursor.node(node))
  }
  if (cursor.skip('bracket', '(')) {
    const node = parseSequence(cursor)
    cursor.expect('bracket', ')')
    return parsePostfix(cursor, node)
  }
  if (cursor.closures > 0 && (cursor.is('operator', '#') || cursor.is('operator', '.'))) {
    // A leading dot is a member of the element: `.name` is `#.name`.
    const named = cursor.skip('operator', '#') && cursor.token.kind === 'name'
    const name = named ? cursor.next().text : ''
    return parsePostfix(cursor, cursor.node({ kind: 'pointer', at: token.at, name }))
  }
  if (cursor.is('operator', '::')) {
    throw new Fault('Unsupported', token.at, ':: is not supported in group rules')
  }
  return parseOperand(cursor)
}

/** Numbers, `true`, `false` and `nil` have no members. */
function parseOperand(cursor: Cursor): Node {
  const { token } = cursor
  const { at, text } = token
  switch (token.kind) {
    case 'number': {
      cursor.next()
      const lower = text.toLowerCase()
      const isInt = lower.startsWith('0x') || !/[.e]/.test(lower)
      return cursor.node(
        isInt
          ? { kind: 'int', at, value: readInt(text, at) }
          : { kind: 'float', at, value: readFloat(text, at) },
      )
    }
    case 'string':
      cursor.next()
      return parsePostfix(cursor, cursor.node({ kind: 'string', at, value: text }))
    case 'name':
      cursor.next()
      if (text === 'true') return cursor.node({ kind: 'bool', at, value: true })
      if (text === 'false') return cursor.node({ kind: 'bool', at, value: false })
      if (text === 'nil') return cursor.node({ kind: 'nil', at })
      return parsePostfix(
        cursor,
        cursor.is('bracket', '(')
          ? parseCall(cursor, text, at, [])
          : cursor.node({ kind: 'name', at, name: text }),
      )
    case 'operator':
    case 'bracket':
    case 'end':
      break
  }
  if (cursor.skip('bracket', '[')) return parsePostfix(cursor, parseArray(cursor, at))
  if (cursor.skip('bracket', '{')) return parsePostfix(cursor, parseMap(cursor, at))
  throw cursor.unexpected('a value')
}

/** The call after `|`. Its first argument is the value before it. */
export function parsePipe(cursor: Cursor, input: Node): Node {
  const { text, at } = cursor.name()
  if (!cursor.is('bracket', '(')) throw cursor.unexpected("'('")
  return parseCall(cursor, text, at, [input])
}

function parseCall(cursor: Cursor, name: string, at: number, piped: Node[]): Node {
  if (refused.has(name)) {
    throw new Fault('Unsupported', at, `builtin ${name} is not supported in group rules`)
  }
  if (!builtinNames.has(name)) {
    throw new Fault('UnknownName', at, `unknown function ${name}`)
  }
  const parameters = predicates.get(name)
  const args =
    parameters === undefined
      ? [...piped, ...parseArguments(cursor)]
      : parsePredicateArguments(cursor, name, parameters, piped)
  return cursor.node({ kind: 'call', at, name, args })
}

function parseArguments(cursor: Cursor): Node[] {
  cursor.expect('bracket', '(')
  return parseList(cursor, ')', () => parseExpression(cursor, 0))
}

/** Items separated by commas up to a bracket, with an optional trailing comma. */
function parseList<T>(cursor: Cursor, end: string, parseItem: () => T): T[] {
  const items: T[] = []
  while (!cursor.is('bracket', end)) {
    if (items.length > 0) {
      cursor.expect('operator', ',')
      if (cursor.is('bracket', end)) break
    }
    items.push(parseItem())
  }
  cursor.next()
  return items
}

function parsePredicateArguments(
  cursor: Cursor,
  name: string,
  parameters: readonly string[],
  piped: readonly Node[],
): Node[] {
  const args = [...piped]
  cursor.expect('bracket', '(')
  for (const [index, parameter] of parameters.slice(piped.length).entries()) {
    if (cursor.is('bracket', ')')) {
      if (parameter.endsWith('?')) break
      throw new Fault('InvalidSyntax', cursor.token.at, `not enough arguments to call ${name}`)
    }
    if (index > 0) cursor.expect('operator', ',')
    args.push(parameter.startsWith('closure') ? parseClosure(cursor) : parseExpression(cursor, 0))
  }
  cursor.skip('operator', ',')
  cursor.expect('bracket', ')')
  return args
}

/** A brace always opens a block here, never a map. */
function parseClosure(cursor: Cursor): Node {
  const { at } = cursor.token
  const braces = cursor.skip('bracket', '{')
  cursor.closures += 1
  const body = braces ? parseSequence(cursor) : parseExpression(cursor, 0)
  cursor.closures -= 1
  if (braces) cursor.expect('bracket', '}')
  else if (cursor.is('operator', ';')) {
    throw new Fault('InvalidSyntax', cursor.token.at, 'a closure with ; needs braces around it')
  }
  return cursor.node({ kind: 'closure', at, body })
}

function parseArray(cursor: Cursor, at: number): Node {
  const items = parseList(cursor, ']', () => parseExpression(cursor, 0))
  return cursor.node({ kind: 'array', at, items })
}

function parseMap(cursor: Cursor, at: number): Node {
  const pairs = parseList(cursor, '}', () => {
    const key = parseKey(cursor)
    cursor.expect('operator', ':')
    const value = parseExpression(cursor, 0)
    cursor.countNode(at)
    return { key, value }
  })
  return cursor.node({ kind: 'map', at, pairs })
}

function parseKey(cursor: Cursor): Node {
  const { kind, text, at } = cursor.token
  if (kind === 'name' || kind === 'string' || kind === 'number') {
    cursor.next()
    return cursor.node({ kind: 'string', at, value: text })
  }
  if (cursor.is('bracket', '(')) return parseExpression(cursor, 0)
  throw cursor.unexpected('a key: a name, a string, a number or an expression in parentheses')
}

function parsePostfix(cursor: Cursor, start: Node): Node {
  let node = start
  for (let run = 1; ; run += 1) {
    cursor.checkRun(run)
    const optional = cursor.is('operator', '?.')
    const index = optional ? cursor.following : cursor.token
    if (index.kind === 'bracket' && index.text === '[') {
      if (optional) cursor.next()
      cursor.next()
      node = parseIndex(cursor, node, index.at, optional)
    } else if (optional || cursor.is('operator', '.')) {
      cursor.next()
      node = parseMember(cursor, node, optional)
    } else {
      return node
    }
  }
}

/** After a `?.`, all further members belong to the chain. */
function parseMember(cursor: Cursor, object: Node, optional: boolean): Node {
  const { kind, text, at } = cursor.token
  const isName = kind === 'name' || (kind === 'operator' && /^[a-z]/i.test(text))
  if (!isName) throw cursor.unexpected('a name')
  cursor.next()
  const property = cursor.node({ kind: 'string', at, value: text })
  const inner = object.kind === 'chain' ? object.inner : object
  const member = cursor.node({ kind: 'member', at, object: inner, property, optional })
  if (cursor.is('bracket', '(')) {
    throw new Fault(
      'Unsupported',
      at,
      `there is no method ${text}; write ${text}(…) or … | ${text}()`,
    )
  }
  const inChain = optional || object.kind === 'chain'
  return inChain ? cursor.node({ kind: 'chain', at, inner: member }) : member
}

function parseIndex(cursor: Cursor, object: Node, at: number, optional: boolean): Node {
  const from = cursor.is('operator', ':') ? undefined : parseExpression(cursor, 0)
  if (cursor.skip('operator', ':')) {
    const to = cursor.is('bracket', ']') ? undefined : parseExpression(cursor, 0)
    cursor.expect('bracket', ']')
    return cursor.node({ kind: 'slice', at, object, from, to })
  }
  cursor.expect('bracket', ']')
  if (from === undefined) throw cursor.unexpected('an index')
  const member = cursor.node({ kind: 'member', at, object, property: from, optional })
  return optional ? cursor.node({ kind: 'chain', at, inner: member }) : member
}
