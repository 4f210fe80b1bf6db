import { expect, it } from 'vitest'
import { operandsOf } from './expr.ts'

it.each<[source: string, operands: readonly string[] | undefined]>([
  ['"a" in groups', undefined],
  ['a or b and c || d', ['a', 'b and c', 'd']],
  ['a && (b or c) and not d', ['a', '(b or c)', 'not d']],
  ['"x or y" in groups', undefined],
  ['any(groups, # == "a" or # == "b")', undefined],
  ['let x = groups; "a" in x or "b" in x', undefined],
  ['a ? b or c : d', undefined],
  ['groups | any(# == "a") or b', undefined],
  ['a /* or b */ or c', ['a /* or b */', 'c']],
])('%s has the operands %j', (source, operands) => {
  expect(operandsOf(source)).toEqual(operands)
})
