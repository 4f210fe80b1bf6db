/** The type of a part of an expression; `any` is a type that is unknown before it runs. */
type Kind = 'bool' | 'string' | 'int' | 'strings' | 'ints' | 'list' | 'map' | 'grouped' | 'any'

type Make = (g: Generator, depth: number) => string

/** Expressions of parts that are often nil, empty or of another type than they seem. */
export class Generator {
  readonly #random: () => number
  /** The number of closures around the part, in which `#` has a meaning. */
  #closures = 0

  /** @param random from 0 up to, and without, 1 */
  constructor(random: () => number) {
    this.#random = random
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T
  }

  /**
   * A search from the end comes first, in a variable: after anything else the reference loses count of its stack and
   * compares the remains of it.
   */
  rule(): string {
    const depth = 2 + Math.floor(this.#random() * 3)
    if (this.#random() > 0.15) return this.make('bool', depth)
    const search = this.pick(['findLast', 'findLastIndex'])
    const condition = this.closure('bool', 1)
    const found = `let found = ${search}(${this.make('strings', 1)}, ${condition}); `
    return `${found}${this.pick(['found == nil', 'found == "a"', 'found in [1, "x", nil]', 'found'])} || ${this.make('bool', 1)}`
  }

  groups(): string[] {
    const names = ['a', 'b', 'a:x', 'b:y', 'x', '', 'a:x:y', '12', ':']
    const many = this.pick([0, 0, 1, 1, 2, 3, 5])
    return Array.from({ length: many }, () => this.pick(names))
  }

  make(kind: Kind, depth: number): string {
    // Now and then something of another kind, because most mistakes are that.
    const wanted = this.#random() < 0.03 ? this.pick(others) : kind
    if (this.#closures > 0 && this.#random() < 0.25) return '#'
    if (depth <= 0) return this.pick(leaves[wanted])
    return this.pick(branches[wanted])(this, depth - 1)
  }

  closure(kind: Kind, depth: number): string {
    this.#closures += 1
    const body = this.make(kind, depth)
    this.#closures -= 1
    return body
  }
}

/** Loops over a map, which go well as long as nothing is asked of its elements, are not tried. */
const others: readonly Kind[] = ['bool', 'string', 'int', 'strings', 'ints', 'list', 'any']
const lists: readonly Kind[] = ['strings', 'strings', 'ints', 'list']

const leaves: Readonly<Record<Kind, readonly string[]>> = {
  bool: ['true', 'false', '"a" in groups', 'groups == nil', 'len(groups) > 1'],
  string: ['"a"', '"x"', '""', '":"', '"a:x"', '"12"', 'groups[0]', 'first(groups)'],
  int: ['0', '1', '2', '-1', 'len(groups)', 'findIndex(groups, # == "a")'],
  strings: [
    'groups',
    'groups',
    'split("a:b", ":")',
    'split("", "", 0)',
    'groups[0:0]',
    'groups[1:]',
  ],
  ints: ['1..2', '1..0', '(1..3)[0:0]', '[1, 2]', '[]', '2..2'],
  list: ['[]', '["a", 1]', '[nil]', 'concat(groups)', 'concat([], [])', 'filter(groups, false)'],
  map: ['{}', '{a: 1, b: nil}', '{"a": groups, x: "y"}'],
  grouped: ['groupBy(groups, #)', 'groupBy([], #)', 'groupBy(groups, split(#, ":")[0])'],
  any: [
    'nil',
    '{a: 1}.b',
    '{a: groups}.a',
    'find(groups, # == "a")',
    'last(groups)',
    'get(groups, 1)',
  ],
}

/** Templates of parts: {kind} is replaced by a part of that kind, {kind*} by one within a closure. */
function text(template: string): Make {
  const pieces = template.split(/\{([a-z]+\*?)\}/)
  return (g, depth) =>
    pieces
      .map((piece, index) => {
        if (index % 2 === 0) return piece
        const name = piece.replace('*', '')
        const kind = name === 'seq' ? g.pick(lists) : (name as Kind)
        return piece.endsWith('*') ? g.closure(kind, depth) : g.make(kind, depth)
      })
      .join('')
}

const choices = (...templates: readonly string[]): readonly Make[] => templates.map(text)

const choice = (kind: Kind): readonly string[] => [
  `({${kind}} ?? {${kind}})`,
  `({any} ?? {${kind}})`,
  `({bool} ? {${kind}} : {${kind}})`,
  `({bool} ? {${kind}} : nil)`,
]

const branches: Readonly<Record<Kind, readonly Make[]>> = {
  bool: choices(
    '{seq} == nil',
    '{seq} != nil',
    '{any} == nil',
    '{any} != nil',
    '{string} == nil',
    '{string} == {string}',
    '{string} != {any}',
    '{int} == {int}',
    '{int} != nil',
    '{int} == {any}',
    '{seq} == {seq}',
    '{any} == {any}',
    '{map} == {map}',
    '{string} in {seq}',
    '{any} in {seq}',
    '{int} in {ints}',
    '{string} not in {strings}',
    '{any} in {map}',
    '{any} in {grouped}',
    '{string} in ["a", "x"]',
    '{any} in [1, 2]',
    '{string} contains {string}',
    '{any} startsWith {string}',
    '{string} matches "^a"',
    '{int} > {int}',
    '{int} <= {any}',
    '{string} < {string}',
    'any({seq}, {bool*})',
    'all({seq}, {bool*})',
    'none({seq}, {bool*})',
    'one({seq}, {bool*})',
    'count({seq}, {bool*}) > {int}',
    'not ({bool})',
    '({bool} && {bool})',
    '({bool} || {bool})',
    '({bool} ?? {bool})',
    'hasPrefix({string}, {string})',
    'type({any}) == "nil"',
    'type({seq}) == type({any})',
    'type({grouped}[{any}]) == "array"',
    '{any}',
  ),
  string: choices(
    'first({strings})',
    'last({strings})',
    'get({strings}, {int})',
    '{strings}[{int}]',
    'find({strings}, {bool*})',
    'join({seq}, {string})',
    'join({seq})',
    'lower({string})',
    'trimPrefix({string}, {string})',
    'replace({string}, {string}, {string})',
    'string({int})',
    'string({any})',
    'type({any})',
    '({string} + {string})',
    '{string}[{int}:{int}]',
    ...choice('string'),
  ),
  int: choices(
    'len({seq})',
    'len({string})',
    'len({map})',
    'len({grouped})',
    'count({seq}, {bool*})',
    'findIndex({seq}, {bool*})',
    'indexOf({string}, {string})',
    'int({string})',
    'first({ints})',
    'get({ints}, {int})',
    'sum({ints})',
    'sum(map({seq}, {int*}))',
    'min({ints})',
    'max({ints}, {int})',
    'reduce({seq}, {int*}, 0)',
    'reduce({seq}, #acc + 1, 2)',
    '({int} + {int})',
    ...choice('int'),
  ),
  strings: choices(
    'split({string}, {string})',
    'split({string}, {string}, {int})',
    'take({strings}, {int})',
    '{strings}[{int}:]',
    '{strings}[:{int}]',
    ...choice('strings'),
  ),
  ints: choices(
    '({int}..{int})',
    'map({seq}, {int*})',
    'take({ints}, {int})',
    '{ints}[{int}:{int}]',
    'map({seq}, #index)',
    ...choice('ints'),
  ),
  list: choices(
    'concat({seq})',
    'concat({seq}, {seq})',
    'filter({seq}, {bool*})',
    'map({seq}, {string*})',
    'map({seq}, {any*})',
    'flatten([{seq}, {seq}])',
    'flatten({seq})',
    'uniq({seq})',
    'reverse({seq})',
    'sort({seq})',
    'sortBy({seq}, {string*})',
    'sortBy({seq}, {any*}, "desc")',
    '{grouped}[{any}]',
    '{grouped}[{string}]',
    '[{any}, {string}]',
    '[{seq}]',
    '{seq}[{int}:{int}]',
    'take({seq}, {int})',
    ...choice('list'),
  ),
  map: choices(
    '{{a: {any}}}',
    '{{a: {seq}, "b": {any}}}',
    '{{({string}): {any}}}',
    ...choice('map'),
  ),
  grouped: choices(
    'groupBy({seq}, {any*})',
    'groupBy({seq}, {string*})',
    'groupBy({seq}, {int*})',
    'groupBy({seq}, {bool*})',
    ...choice('grouped'),
  ),
  any: choices(
    '{map}.a',
    '{map}?.a',

    '{map}[{string}]',
    '{grouped}.a',
    '{grouped}?.x',
    '{grouped}[{int}]',
    'first({seq})',
    'last({seq})',
    'get({seq}, {int})',
    'get({map}, {string})',
    'get({grouped}, {string})',
    'find({seq}, {bool*})',
    'findIndex({seq}, {bool*})',
    'reduce({seq}, {any*})',
    'max({seq})',
    '{seq}?.[{int}]',
    '({any} ?? {any})',
    '({any} ? {any} : {any})',
    '{any}?.a',
    '{seq}',
    '{string}',
    '{int}',
    '{bool}',
  ),
}
