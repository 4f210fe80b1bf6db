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
