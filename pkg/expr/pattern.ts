import { RE2JS, RE2JSException } from 're2js'
import { type ExpressionErrorCode, Fault } from './expression-error.ts'
import type { Run } from './run.ts'

/** Limit of a pattern, in code units. */
const maxLength = 512
/** Limit of a compiled pattern, in instructions: `(.{0,1000}x)` forty times has 80,000 and takes seconds. */
const maxProgram = 2_000
/** Steps for compiling a pattern during evaluation, in addition to those for its size. */
const compileSteps = 500

export interface Pattern {
  matches(text: string, run: Run): boolean
}

/**
 * A regular expression in the syntax of RE2, matched in linear time as in Go, and unlike JavaScript.
 *
 * @param code of the error, which depends on whether the pattern is a literal or computed
 */
export function compilePattern(source: string, at: number, code: ExpressionErrorCode): Pattern {
  if (source.length > maxLength) {
    throw new Fault(code, at, `this pattern is longer than ${maxLength} characters`)
  }
  const tooLarge = () => new Fault(code, at, 'this pattern is too large; repeat less')
  if (estimateSize(source) > 2 * maxProgram) throw tooLarge()
  const compiled = compile(source, at, code)
  const size = compiled.programSize()
  if (size > maxProgram) throw tooLarge()
  return {
    matches(text, run) {
      run.work(size * text.length, at)
      return compiled.test(text)
    },
  }
}

/** A pattern that is computed during evaluation. */
export function compileComputed(source: string, at: number, run: Run): Pattern {
  run.step(compileSteps + 4 * estimateSize(source), at)
  return compilePattern(source, at, 'EvaluationFailed')
}

const repetition = /\{\d+(?:,\d*)?\}/y
const atom = /\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^]/suy

/** Estimates the instructions of a pattern, with all repetitions, to refuse a giant before it is built. */
function estimateSize(source: string): number {
  const groups: number[] = []
  let size = 0
  let last = 0
  const take = (pattern: RegExp, at: number): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(source)
  }
  for (let at = 0; at < source.length; ) {
    const repeated = take(repetition, at)
    const [text = ''] = repeated ?? take(atom, at) ?? []
    at += Math.max(text.length, 1)
    if (repeated !== null) {
      const times = Math.max(...(text.match(/\d+/g) ?? []).map(Number), 1)
      size += last * (times - 1)
      last *= times
    } else if (text === '(') {
      groups.push(size)
      size = 0
    } else {
      const isGroup = text === ')'
      last = isGroup ? size + 1 : 1
      size = (isGroup ? (groups.pop() ?? 0) : size) + last
    }
  }
  return size
}

function compile(source: string, at: number, code: ExpressionErrorCode): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown
    throw new Fault(code, at, thrown.message)
  }
}
