import { expect, it } from 'vitest'
import { Answers } from './answers.ts'

const facts = { route: '/list' }
const revision = () => 1

it('keeps an answer when it is asked for again, and none that was asked for once', () => {
  const answers = new Answers()
  answers.put('key', { body: 'one', revision }, facts)
  expect(answers.get('key')).toBeUndefined()
  const kept = answers.put('key', { body: 'two', revision }, facts)
  expect(answers.get('key')).toBe(kept)
})

it('keeps the next answer of what was kept before a change at once', () => {
  const answers = new Answers()
  let now = 1
  const composed = { body: 'text', revision: () => now }
  for (const key of ['key', 'key']) answers.put(key, composed, facts)
  now = 2
  expect(answers.get('key')).toBeUndefined()
  const kept = answers.put('key', composed, facts)
  expect(answers.get('key')).toBe(kept)
})
