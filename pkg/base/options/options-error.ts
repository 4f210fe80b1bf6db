import { messageOf } from '../errors/errors.ts'

/** All mistakes of a command line and its environment at once. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError'
  /** One sentence per mistake: the flag, the origin of its value, and the correction. */
  readonly problems: readonly string[]
  /** The options that could be read, for further checks; undefined if a value is missing or wrong. */
  readonly readable: Readonly<Record<string, unknown>>

  constructor(problems: readonly string[], readable: Readonly<Record<string, unknown>> = {}) {
    super(problems.join('\n'))
    this.problems = problems
    this.readable = readable
  }
}

/** @throws OptionsError with those that are problems */
export function requireNone(...checks: readonly (string | undefined)[]): void {
  const problems = checks.filter((problem) => problem !== undefined)
  if (problems.length > 0) throw new OptionsError(problems)
}

/** Turns a failure into a mistake, for `catch`. @param what an option, a file or an address */
export const mistakeIn =
  (what: string) =>
  (error: unknown): never => {
    throw new OptionsError([`${what}: ${messageOf(error)}`])
  }
