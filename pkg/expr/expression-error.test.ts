import { describe, expect, it } from 'vitest'
import { ExpressionError } from './expr.ts'
import { compileExpression } from './expression.fixture.ts'

function errorOf(source: string, groups: readonly string[] = []): ExpressionError {
  try {
    compileExpression(source)(groups)
  } catch (thrown) {
    if (thrown instanceof ExpressionError) return thrown
    throw thrown
  }
  throw new Error(`${source} has an answer`)
}

describe('mistakes are reported with their place', () => {
  it.each([
    ['', 'InvalidSyntax', 'unexpected end of the expression; expected a value', 1, 1],
    ['"a" in', 'InvalidSyntax', 'unexpected end of the expression; expected a value', 1, 7],
    ['"a" in groups, "b"', 'InvalidSyntax', "unexpected operator ','", 1, 14],
    ['"a', 'InvalidSyntax', 'this string is not terminated', 1, 1],
    [
      '"a\\d" in groups',
      'InvalidSyntax',
      'invalid escape; write a backslash as \\\\ or use `…`',
      1,
      3,
    ],
    ['true /* x', 'InvalidSyntax', 'this comment is not closed', 1, 6],
    ['"a" ∈ groups', 'InvalidSyntax', "unrecognized character U+2208 '∈'", 1, 5],
    [
      '9223372036854775808 > 0',
      'InvalidSyntax',
      '9223372036854775808 does not fit into 64 bits',
      1,
      1,
    ],
    [
      'nil ?? "a" == "a"',
      'InvalidSyntax',
      '== after ?? needs parentheses around one of them',
      1,
      12,
    ],
    ['any(groups)', 'InvalidSyntax', 'not enough arguments to call any', 1, 11],
    ['"a" in Groups', 'UnknownName', 'unknown name Groups', 1, 8],
    ['size(groups) > 0', 'UnknownName', 'unknown function size', 1, 1],
    ['"a"\n  in groups or\n  "é" in grups', 'UnknownName', 'unknown name grups', 3, 10],
    ['("a" || "b") in groups', 'TypeMismatch', '|| does not take a string and a string', 1, 6],
    [
      'groups contains "a"',
      'TypeMismatch',
      'contains does not take a list of strings and a string; for a list, use in',
      1,
      8,
    ],
    [
      '"a" in "abc"',
      'TypeMismatch',
      'in does not take a string and a string; for a part of a string, use contains',
      1,
      5,
    ],
    ['len(groups)', 'TypeMismatch', 'the expression must be true or false, but it is an int', 1, 1],
    [
      'not "a" in groups',
      'TypeMismatch',
      'not does not take a string; for a list, write x not in list',
      1,
      1,
    ],
    ['len(1) > 0', 'TypeMismatch', 'argument 1 of len must not be an int', 1, 1],
    [
      'groups.length > 0',
      'TypeMismatch',
      'an element of a list is chosen by an int, not by a string',
      1,
      8,
    ],
    ['let groups = 1; true', 'TypeMismatch', 'groups is taken; choose another name', 1, 5],
    [
      'groups[0] matches "("',
      'InvalidPattern',
      'error parsing regexp: missing closing ): `(`',
      1,
      19,
    ],
    ['now() > 1', 'Unsupported', 'builtin now is not supported in group rules', 1, 1],
    ['groups[0] == "a"', 'EvaluationFailed', 'index 0 is outside of a list of 0', 1, 7],
    [
      'first(groups) == "a"',
      'EvaluationFailed',
      'this compares a string with nil; test it with == nil first',
      1,
      15,
    ],
    [
      'any(1..10000000, false)',
      'WorkExceeded',
      'this needs memory for 1000000 values or more',
      1,
      6,
    ],
  ])('%s', (source, code, summary, line, column) => {
    const error = errorOf(source)
    expect([error.code, error.summary]).toEqual([code, summary])
    expect(error.position).toMatchObject({ line, column })
    expect(error.message.split('\n')[0]).toBe(`${summary} (${line}:${column})`)
  })
})

describe('a caret marks the place', () => {
  it.each([
    ['in the line', 'true or\n\t"😀" in x', ' |  "😀" in x\n | ........^'],
    ['at the end', 'true or', ' | true or\n | .......^'],
    [
      'far into a long line',
      `${'true or '.repeat(50)}x`,
      ` | ${'true or '.repeat(50).slice(-60)}x\n | ${'.'.repeat(60)}^`,
    ],
  ])('%s', (_, source, snippet) => {
    const [, ...lines] = errorOf(source).message.split('\n')
    expect(lines.join('\n')).toBe(snippet)
  })
})
