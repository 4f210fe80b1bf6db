import { expect, it } from 'vitest'
import { keptBytes } from './memory.ts'

it.each(['', 'text', 'é界🚀', Buffer.from('bytes')])('keeps %j and nothing else', (text) => {
  const kept = keptBytes(text)
  expect(kept).toEqual(Buffer.from(text))
  expect(kept.buffer.byteLength).toBe(kept.length)
})
