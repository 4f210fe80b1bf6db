import { RE2JS, RE2JSException } from 're2js'
import { type ExpressionErrorCode, Fault } from './expression-error.ts'
import type { Run } from './run.ts'

/** Of a pattern, in code units. */
const maxLength = 512
/** Of a compiled pattern, in instructions; `(.{0,1000}x)` forty times has 80,000 and takes seconds. */
const maxProgram = 2_000
/** What it costs to compile a pattern while evaluating, in steps, beside those for its size. */
const compileSteps = 500

export interface Pattern {
  matches(text: string, run: Run): boolean
}

/**
 * A regular expression in the syntax of RE2, which takes linear time: as Go's, and unlike JavaScript's.
 *
 * @param code of the error, which depends on whether the pattern stands in the source or is computed
 */
export function compilePattern(source: string, at: number, code: ExpressionErrorCode): Pattern {
  if (source.length > maxLength) {
    throw new Fault(code, at, `this pattern is longer than ${maxLength} characters`)
  }
  const compiled = compile(source, at, code)
  const size = compiled.programSize()
  if (size > maxProgram) throw new Fault(code, at, 'this pattern is too large; repeat less')
  return {
    matches(text, run) {
      run.work(size * text.length, at)
      return compiled.test(text)
    },
  }
}

/** A pattern that is known only now. */
export function compileComputed(source: string, at: number, run: Run): Pattern {
  run.step(compileSteps + source.length, at)
  return compilePattern(source, at, 'EvaluationFailed')
}

function compile(source: string, at: number, code: ExpressionErrorCode): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown
    throw new Fault(code, at, thrown.message)
  }
}
