/** The builtins that take a closure, and what they take; a question mark marks what may be left out. */
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

const functions =
  'len type abs ceil floor round int float string trim trimPrefix trimSuffix upper lower split replace repeat join ' +
  'indexOf lastIndexOf hasPrefix hasSuffix max min first last get take keys values reverse uniq concat flatten sort'

/** Clocks, encodings and bits have no place in a rule about groups. */
export const refused: ReadonlySet<string> = new Set(
  (
    'splitAfter mean median toJSON fromJSON toBase64 fromBase64 now date duration timezone toPairs fromPairs ' +
    'bitand bitor bitxor bitnand bitnot bitshl bitshr bitushr'
  ).split(' '),
)

/** Every name that can be called. */
export const builtinNames: ReadonlySet<string> = new Set([
  ...predicates.keys(),
  ...functions.split(' '),
])
