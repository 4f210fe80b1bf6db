import { lists } from './list-functions.ts'
import { numbers } from './number-functions.ts'
import type { BuiltinFunction } from './run.ts'
import { strings } from './string-functions.ts'

/** The builtins that take no closure. */
export const functions: ReadonlyMap<string, BuiltinFunction> = new Map([
  ...strings,
  ...lists,
  ...numbers,
])

/** The builtins that take a closure, with their parameters. Those with a question mark are optional. */
export const predicates: ReadonlyMap<string, readonly string[]> = new Map([
  ['all', ['value', 'closure']],
  ['any', ['value', 'closure']],
  ['none', ['value', 'closure']],
  ['one', ['value', 'closure']],
  ['filter', ['value', 'closure']],
  ['map', ['value', 'closure']],
  ['count', ['value', 'closure?']],
  ['sum', ['value', 'closure?']],
  ['find', ['value', 'closure']],
  ['findIndex', ['value', 'closure']],
  ['findLast', ['value', 'closure']],
  ['findLastIndex', ['value', 'closure']],
  ['sortBy', ['value', 'closure', 'value?']],
  ['groupBy', ['value', 'closure']],
  ['reduce', ['value', 'closure', 'value?']],
])

/** Functions of expr-lang that rules about groups do not need: clocks, encodings and bits. */
export const refused: ReadonlySet<string> = new Set(
  (
    'splitAfter mean median toJSON fromJSON toBase64 fromBase64 now date duration timezone toPairs fromPairs ' +
    'bitand bitor bitxor bitnand bitnot bitshl bitshr bitushr'
  ).split(' '),
)

/** Every name that can be called. */
export const builtinNames: ReadonlySet<string> = new Set([
  ...predicates.keys(),
  ...functions.keys(),
])
