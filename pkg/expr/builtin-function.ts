import type { Run } from './run.ts'
import type { Value } from './value.ts'

/** A builtin without a closure. How many arguments there are, and what is known of their types, was checked before. */
export type BuiltinFunction = (args: readonly Value[], run: Run, at: number) => Value
