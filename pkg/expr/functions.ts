import type { BuiltinFunction } from './builtin-function.ts'
import { lists } from './list-functions.ts'
import { numbers } from './number-functions.ts'
import { strings } from './string-functions.ts'

export const functions: ReadonlyMap<string, BuiltinFunction> = new Map([
  ...strings,
  ...lists,
  ...numbers,
])
