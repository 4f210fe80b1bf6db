import { expect, it } from 'vitest'
import { rewritten } from './write-file.ts'

const without = (text: string) =>
  rewritten(
    'a.yaml',
    text,
    () => true,
    () => undefined,
  )

it('removes a file in which only comments are left', () => {
  expect(without(`${'#'.repeat(1000)}\n---\na: 1\n`)).toBeUndefined()
})

it('keeps the rest of a file, however long its comments are', () => {
  const rest = `${'#'.repeat(1000)}\nb: [\n`
  expect(without(`a: 1\n---\n${rest}`)).toContain(rest)
})
