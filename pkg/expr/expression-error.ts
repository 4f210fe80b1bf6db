/** A stable code for searching. The last two arise during evaluation, the others during compilation. */
export type ExpressionErrorCode =
  | 'InvalidSyntax'
  | 'UnknownName'
  | 'TypeMismatch'
  | 'InvalidPattern'
  | 'Unsupported'
  | 'TooLarge'
  | 'EvaluationFailed'
  | 'WorkExceeded'

/** A place in the source of an expression. */
export interface Position {
  /** In UTF-16 code units, from 0. */
  readonly offset: number
  /** From 1. */
  readonly line: number
  /** In characters, from 1. */
  readonly column: number
}

/** The expression is wrong, or cannot be evaluated for these groups; the message ends with the line and a caret under the place. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
  readonly code: ExpressionErrorCode
  readonly position: Position
  /** The mistake in one line, without the place. */
  readonly summary: string

  constructor(code: ExpressionErrorCode, summary: string, source: string, offset: number) {
    const position = positionOf(source, offset)
    const place = `(${position.line}:${position.column})`
    super(`${summary} ${place}\n${snippetOf(source, position)}`)
    this.code = code
    this.summary = summary
    this.position = position
  }
}

/** An ExpressionError without the source, thrown by the parts of the compiler. */
export class Fault extends Error {
  readonly code: ExpressionErrorCode
  readonly offset: number

  constructor(code: ExpressionErrorCode, offset: number, message: string) {
    super(message)
    this.code = code
    this.offset = offset
  }
}

/** @throws Fault EvaluationFailed */
export function failAt(offset: number, message: string): never {
  throw new Fault('EvaluationFailed', offset, message)
}

/**
 * Runs a part of the compiler or of an expression, and turns its errors into an ExpressionError.
 *
 * @param overflow the code for a stack overflow
 */
export function bindErrors<T>(source: string, overflow: ExpressionErrorCode, part: () => T): T {
  try {
    return part()
  } catch (thrown) {
    if (thrown instanceof Fault) {
      throw new ExpressionError(thrown.code, thrown.message, source, thrown.offset)
    }
    if (thrown instanceof RangeError) {
      throw new ExpressionError(overflow, 'the expression is nested too deeply', source, 0)
    }
    throw thrown
  }
}

function positionOf(source: string, offset: number): Position {
  const before = source.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return {
    offset,
    line: before.split('\n').length,
    column: Array.from(before.slice(lineStart)).length + 1,
  }
}

/** Characters of a long line that are shown on either side of the place. */
const margin = 60

function snippetOf(source: string, { line, column }: Position): string {
  const characters = Array.from(source.split('\n')[line - 1] ?? '')
  const from = Math.max(0, column - 1 - margin)
  const shown = characters.slice(from, column - 1 + margin).join('')
  const dots = '.'.repeat(column - 1 - from)
  return ` | ${shown.replaceAll(/[\t\r]/g, ' ')}\n | ${dots}^`
}
